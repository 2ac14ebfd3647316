/// A setting of the agent as the window offers it.
package struct Preference: Sendable, Hashable {
  package enum Control: Sendable, Hashable {
    /// A switch, with the values of the file.
    case toggle(on: String, off: String)
    case choice([Choice])
    case number
    /// A longer text.
    case text(hint: String)
  }

  package struct Choice: Sendable, Hashable {
    /// As the file has it.
    package let value: String
    package let title: String
  }

  package struct Group: Sendable, Hashable {
    package let title: String
    package let preferences: [Preference]
  }

  /// The group and the key of the file.
  package let name: String
  package let title: String
  package let text: String
  package let control: Control
  /// A value that has an effect that cannot be undone, and what that is.
  package let warning: Warning?

  package struct Warning: Sendable, Hashable {
    package let value: String
    package let title: String
    package let text: String
    /// The button that goes on.
    package let button: String
  }

  private init(
    _ name: String, _ control: Control, _ title: String, _ text: String = "", warning: Warning? = nil
  ) {
    (self.name, self.control, self.title, self.text, self.warning) = (name, control, title, text, warning)
  }

  /// The choices, and the present value if it is another one.
  package func choices(with value: String) -> [Choice] {
    guard case .choice(let choices) = control else { return [] }
    return choices.contains { $0.value == value }
      ? choices : choices + [Choice(value: value, title: Self.seconds(value))]
  }

  /// A value for a person.
  package func words(_ value: String) -> String {
    switch control {
    case .toggle(let on, _): value == on ? translated("On") : translated("Off")
    case .choice: choices(with: value).first { $0.value == value }?.title ?? value
    case .number, .text: value
    }
  }

  /// All settings of the agent that a person changes.
  package static var groups: [Group] {
    [
      Group(title: translated("Notifications"), preferences: [timeout, sound, bareTags]),
      Group(title: translated("Links"), preferences: [schemes, smartPosters, verify]),
      Group(title: translated("Kept Tags"), preferences: [inbox, retentionDays, maximumTaps]),
      Group(title: translated("Reader"), preferences: [camera]),
    ]
  }

  private static var timeout: Preference {
    Preference(
      "Notifications.Timeout",
      .choice(
        [
          // Translators: how long a notification stays.
          Choice(value: "server", title: translated("As the desktop decides")),
          // Translators: how long a notification stays.
          Choice(value: "never", title: translated("Until you close it")),
        ] + ["5", "10", "30", "60"].map { Choice(value: $0, title: seconds($0)) }), translated("How long they stay"))
  }

  private static func seconds(_ value: String) -> String {
    Int(value) == nil ? value : translated("{number} seconds", ["number": value])
  }

  private static var sound: Preference {
    Preference(
      "Notifications.Sound",
      .choice([
        // Translators: which notifications make a sound.
        Choice(value: "off", title: translated("None")),
        // Translators: which notifications make a sound.
        Choice(value: "on", title: translated("Each tag")),
        // Translators: which notifications make a sound.
        Choice(value: "failures", title: translated("Failures only")),
      ]), translated("Sound"), translated("The desktop plays it, as its settings say"))
  }

  private static var bareTags: Preference {
    Preference(
      "Notifications.BareTags", .toggle(on: "show", off: "ignore"), translated("Tags without a message"),
      translated("Such as a blank tag or a bank card: the notification offers to copy the UID"))
  }

  private static var schemes: Preference {
    Preference(
      "Links.Schemes", .text(hint: translated("Schemes, separated by ;")), translated("Links that any app may open"),
      translated("By their first part, such as https or tel. Other links open only in apps that ask for them on tags"))
  }

  private static var smartPosters: Preference {
    Preference(
      "Links.SmartPosters", .toggle(on: "yes", off: "no"), translated("Links inside smart posters"),
      translated("Used if the tag has no other link"))
  }

  private static var verify: Preference {
    Preference(
      "Links.Verify", .toggle(on: "on", off: "off"), translated("Ask domains which apps are theirs"),
      translated(
        "An app that a domain names then opens its links without a question. The domains learn that someone here has an app for them"
      ))
  }

  private static var inbox: Preference {
    Preference(
      "Inbox.Inbox", .toggle(on: "on", off: "off"), translated("Keep tags"),
      translated("So that you can open one later"),
      warning: Warning(
        value: "off", title: translated("Stop Keeping Tags?"),
        text: translated("All tags in the list are deleted at once. This cannot be undone."),
        button: translated("Delete Tags")))
  }

  private static var retentionDays: Preference {
    Preference(
      "Inbox.RetentionDays", .number, translated("Days to keep a tag"),
      translated("From 1 to 3650. Older tags are deleted"))
  }

  private static var maximumTaps: Preference {
    Preference(
      "Inbox.MaximumTaps", .number, translated("Most tags to keep"),
      translated("From 1 to 100000. The oldest are deleted first"))
  }

  private static var camera: Preference {
    Preference(
      "Scan.SuspendForCamera", .toggle(on: "yes", off: "no"), translated("Pause while a camera is in use"),
      translated("For example during a video call"))
  }
}
