/// The user's settings for `tagroute-agent`, from `$XDG_CONFIG_HOME/tagroute/agent.conf`.
package struct AgentConfiguration: KeyFileConfiguration {
  /// Schemes that any handler may open, lower-case. Other schemes need a handler that registers them for tags.
  package var schemes = ["http", "https", "mailto", "sms", "tel", "geo"]
  /// Whether a Smart Poster's URI is used if a message has no URI record.
  package var smartPosters = true
  /// Whether the agent asks domains, in the background, about the handlers that claim them.
  package var verify = false
  /// Whether scanning stops while a camera is in use.
  package var suspendForCamera = false
  /// How long a notification stays up, in milliseconds: -1 if the server decides, 0 if until it is clicked or
  /// dismissed.
  package var notificationTimeout: Int32 = -1
  package enum Sound: String, Sendable, CaseIterable {
    case off
    /// A tap and a failure have different sounds.
    case on
    case failures
  }

  package var sound = Sound.off
  /// What happens to a tag without a message if no rule decides about it.
  package enum BareTags: String, Sendable, CaseIterable {
    /// The tap is kept in the inbox, without a notification.
    case ignore
    /// A notification shows the UID.
    case show
  }

  package var bareTags = BareTags.ignore
  /// Whether taps are kept after they have left the screen.
  package var inbox = true
  /// How long the inbox keeps a tap, in days.
  package var retentionDays = 30
  /// How many taps the inbox keeps.
  package var maximumTaps = 500

  package init() {}

  static let settings: [Setting<AgentConfiguration>] = [
    Setting("Links", "Schemes", \.schemes, text: { $0.joined(separator: ";") }) {
      configuration, file throws(KeyFileError) in
      guard let entry = file.entry("Links", "Schemes"), let schemes = try file.strings("Links", "Schemes") else {
        return
      }
      for scheme in schemes {
        guard isScheme(scheme) else {
          throw file.mistake(
            entry, "\"\(scheme)\" is not a URI scheme",
            "write lower-case names separated by ;, for example http;https;tel")
        }
        guard !neverOpened.contains(scheme) else {
          throw file.mistake(entry, "links with the scheme \(scheme) are never opened from a tag", "leave it out")
        }
      }
      configuration.schemes = schemes
    },
    .flag("Links", "SmartPosters", \.smartPosters),
    .flag("Links", "Verify", \.verify, words: ("on", "off")),
    .flag("Scan", "SuspendForCamera", \.suspendForCamera),
    Setting("Notifications", "Timeout", \.notificationTimeout, text: timeoutText) {
      configuration, file throws(KeyFileError) in
      guard let entry = file.entry("Notifications", "Timeout") else { return }
      switch entry.raw {
      case "server": configuration.notificationTimeout = -1
      case "never": configuration.notificationTimeout = 0
      default:
        guard let seconds = Int32(entry.raw), (1...86_400).contains(seconds) else {
          throw file.mistake(
            entry, "\(KeyFile.quoted(entry)) is not known", "write server, never or a number of seconds from 1 to 86400"
          )
        }
        configuration.notificationTimeout = seconds * 1000
      }
    },
    .choice("Notifications", "Sound", \.sound),
    .choice("Notifications", "BareTags", \.bareTags),
    .flag("Inbox", "Inbox", \.inbox, words: ("on", "off")),
    .number("Inbox", "RetentionDays", \.retentionDays, in: 1...3650, unit: "days"),
    .number("Inbox", "MaximumTaps", \.maximumTaps, in: 1...100_000, unit: "taps"),
  ]

  @Sendable private static func timeoutText(_ milliseconds: Int32) -> String {
    switch milliseconds {
    case -1: "server"
    case 0: "never"
    default: String(milliseconds / 1000)
    }
  }

  package static let schema: KeyFileSchema = schema(of: settings)

  package mutating func merge(_ file: KeyFile) throws(KeyFileError) {
    try merge(file, AgentConfiguration.settings)
  }

  package func keys(differingFrom other: Self) -> [String] { keys(differingFrom: other, AgentConfiguration.settings) }

  /// Schemes that run code or access the user's files, with any handler.
  private static let neverOpened: Set<String> = ["about", "blob", "data", "file", "intent", "javascript", "vbscript"]

  /// RFC 3986, section 3.1, in lower case.
  private static func isScheme(_ text: String) -> Bool {
    guard let first = text.utf8.first, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first) else { return false }
    return text.utf8.count <= 64
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"),
          UInt8(ascii: "-"), UInt8(ascii: "."):
          true
        default: false
        }
      }
  }
}
