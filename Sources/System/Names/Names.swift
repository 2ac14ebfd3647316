/// Every name that crosses a process boundary: buses, paths, interfaces, errors, polkit actions, files.
///
/// No other file in the project spells out one of these.
package enum Names {
  /// ``major.minor.patch`` of every program.
  package static let version = "0.1.0"

  /// The version of all D-Bus interfaces together. The daemon and the agent publish it as `InterfaceVersion`.
  ///
  /// It is raised by one for all additions between two releases. A released member is never changed or removed:
  /// `Config/dbus/released` holds the members of each version, and `Packaging/check-interfaces` compares them.
  package static let interfaceVersion: UInt32 = 2

  /// The keys of the options of `RegisterAgent`, with which an agent describes itself.
  package enum Registration {
    /// `a{sb}`, as for `ReportConditions`.
    package static let conditions = "conditions"
    /// `s`
    package static let version = "version"
    /// `u`
    package static let interfaceVersion = "interface-version"
  }

  /// The daemon, on the system bus.
  package enum Daemon {
    package static let busName = "org.tagroute.Tagroute1"
    package static let path = "/org/tagroute/Tagroute1"
    package static let managerInterface = "org.tagroute.Tagroute1"
    /// One object per reader.
    package static let readerInterface = "org.tagroute.Tagroute1.Reader"
    /// One object per manual reader session.
    package static let readerSessionInterface = "org.tagroute.Tagroute1.ReaderSession"
    /// One object per tag in a reader session.
    package static let tagInterface = "org.tagroute.Tagroute1.Tag"
    /// Exported by agents on their own connection to the system bus. Only the daemon calls it.
    package static let agentInterface = "org.tagroute.Tagroute1.Agent"
    /// Readers are children of this path, numbered in the order in which they were found.
    package static let readersPath = "/org/tagroute/Tagroute1/readers"
    /// Reader sessions are children of this path. Only the bus connection that began a session can see its object.
    package static let readerSessionsPath = "/org/tagroute/Tagroute1/sessions"
  }

  /// The conditions that an agent reports for its session: the keys of `ReportConditions`.
  package enum Condition {
    package static let locked = "locked"
    package static let displayOff = "display-off"
    package static let camera = "camera"
    /// Every radio is switched off.
    package static let airplaneMode = "airplane-mode"
    /// The user has just confirmed that the session is unlocked. This is an event, not a state, and is reported once.
    package static let unlockedByUser = "unlocked-by-user"
  }

  /// Why a reader session ended: the values of the signal `Ended` and of the property `EndReason`.
  package enum SessionEnd: String, Sendable, CaseIterable {
    /// The client called `Invalidate`.
    case invalidated = "invalidated"
    case cancelled = "cancelled"
    case timedOut = "timed-out"
    /// It was to end after the first message, and that message was read.
    case firstRead = "first-read"
    /// The reader was removed, failed, or was lent to another program.
    case readerLost = "reader-lost"
    /// The client's user no longer has the active session, or the session is locked.
    case sessionInactive = "session-inactive"
    case sleeping = "sleeping"
    case daemonStopping = "daemon-stopping"
  }

  /// The per-user agent, on the session bus.
  package enum Agent {
    /// Owning it makes an agent the only one.
    package static let busName = "org.tagroute.Agent1"
    /// The prefix of the names of agents that run beside the session's own, for the demo. A process id follows.
    package static let demoNamePrefix = "org.tagroute.Demo1.Process"
    package static let path = "/org/tagroute/Agent1"
    package static let interface = "org.tagroute.Agent1"
    /// The path at which the agent exports `Daemon.agentInterface` on the system bus.
    package static let tapReceiverPath = "/org/tagroute/Tagroute1/Agent"
    /// A tap that the inbox's file does not have yet is numbered from here: after all others, and exact in JSON.
    package static let firstUnsavedSequence: Int64 = 1 << 52
  }

  /// The program that sends taps to an MQTT broker, on the session bus.
  package enum Mqtt {
    package static let busName = "org.tagroute.Mqtt1"
    package static let path = "/org/tagroute/Mqtt1"
    package static let interface = "org.tagroute.Mqtt1"
  }

  /// The names for a handler app. The keys are those of `platform_data`.
  package enum Handler {
    /// The group in a desktop entry that declares a handler has the same name.
    package static let interface = "org.tagroute.Handler1"
    /// `HandleTag(s uri, ay message, a{sv} platform_data)`
    package static let handleTag = "HandleTag"
    /// Optional: `TagRemoved(s tap_id, a{sv} tag)`.
    package static let tagRemoved = "TagRemoved"
    /// Every application with D-Bus activation implements it (Desktop Entry Specification).
    package static let applicationInterface = "org.freedesktop.Application"
    /// `Open(as uris, a{sv} platform_data)`
    package static let open = "Open"
    /// From a draft that other desktops discuss; it is read too.
    package static let uriHandlerGroup = "org.freedesktop.UriHandler"
    /// `s`: the xdg-activation token.
    package static let activationTokenKey = "activation-token"
    /// `s`: the same value as the token.
    package static let startupIDKey = "desktop-startup-id"
    /// `s`: a UUID.
    package static let tapIDKey = "tap-id"
    /// `ay`
    package static let uidKey = "uid"
    /// `s`: as in the inbox.
    package static let technologyKey = "technology"
    /// `s`: the object path at the daemon.
    package static let readerKey = "reader"
    /// `t`: when the tag was read, in microseconds since 1970-01-01 00:00 UTC.
    package static let timeKey = "time"

    /// The environment variables of a started program: the values of `platform_data` as text.
    package enum Variable {
      /// In the form of ``UIDText/dashed(_:)``.
      package static let uid = "TAGROUTE_UID"
      package static let technology = "TAGROUTE_TECHNOLOGY"
      package static let reader = "TAGROUTE_READER"
      /// In decimal digits and the same unit.
      package static let time = "TAGROUTE_TIME"
      package static let all = [uid, technology, reader, time]
    }
  }

  /// D-Bus error names.
  package enum Errors {
    package static let prefix = "org.tagroute.Error."
    package static let notAuthorized = prefix + "NotAuthorized"
    /// The caller has no session that the daemon serves.
    package static let notASession = prefix + "NotASession"
    /// The message names the argument.
    package static let invalidArgument = prefix + "InvalidArgument"
    /// The configuration has a mistake, which the message names. The previous configuration stays in force.
    package static let invalidConfiguration = prefix + "InvalidConfiguration"
    /// A limit per caller or per user; the message names it.
    package static let tooMany = prefix + "TooMany"
    package static let noSuchTap = prefix + "NoSuchTap"
    /// Another agent serves this session.
    package static let alreadyRegistered = prefix + "AlreadyRegistered"
    /// The tag, the reader or the tap does not allow this.
    package static let notPossible = prefix + "NotPossible"
    /// An app already has this tap; the message names the app.
    package static let alreadyDelivered = prefix + "AlreadyDelivered"
    /// The message gives the reason.
    package static let failed = prefix + "Failed"
    /// It is unknown whether the attempt succeeded; the message gives the reason.
    package static let outcomeUnknown = prefix + "OutcomeUnknown"

    // Errors of operations on the tag of a reader session.

    /// The tag is no longer on the reader.
    package static let tagLost = prefix + "TagLost"
    /// This kind of tag cannot do it, or the tag is not formatted for NDEF.
    package static let notSupported = prefix + "NotSupported"
    package static let readOnly = prefix + "ReadOnly"
    /// The message, or the command, is too long for the tag or the reader.
    package static let tooLong = prefix + "TooLong"
    /// The tag refuses: it is protected, or its contents are contradictory.
    package static let refused = prefix + "Refused"
    /// The tag is on the reader, but did not answer in time.
    package static let timedOut = prefix + "TimedOut"
    /// Too many operations are already waiting.
    package static let busy = prefix + "Busy"
    /// The data that was read back differs from the data that was written.
    package static let notAsWritten = prefix + "NotAsWritten"
    /// The tag cannot be made read-only.
    package static let cannotLock = prefix + "CannotLock"
    /// The tag is formatted and holds no message.
    package static let empty = prefix + "Empty"
    /// The tag is blank, and the session does not format tags.
    package static let notFormatted = prefix + "NotFormatted"
    package static let readerLost = prefix + "ReaderLost"
    package static let sessionEnded = prefix + "SessionEnded"
  }

  /// polkit actions.
  package enum PolkitAction {
    /// Switching background scanning on and off.
    package static let configure = "org.tagroute.Tagroute1.configure"
    /// Keeping background scanning off for a while.
    package static let inhibit = "org.tagroute.Tagroute1.inhibit"
    /// A manual reader session that only reads.
    package static let readTags = "org.tagroute.Tagroute1.read-tags"
    /// A manual reader session that writes or locks.
    package static let writeTags = "org.tagroute.Tagroute1.write-tags"
  }

  package enum Files {
    package static let daemonConfiguration = "/etc/tagroute.conf"
    /// Drop-in directories in ascending precedence: the last one wins.
    package static let daemonDropIns = ["/usr/lib/tagroute.conf.d", "/run/tagroute.conf.d", "/etc/tagroute.conf.d"]
    /// What the daemon keeps across restarts.
    package static let daemonState = "/var/lib/tagroute"
    package static let libexec = "/usr/libexec"
    /// The reader process, beside `tagrouted` or in libexec.
    package static let readerProgram = "tagroute-reader"
    /// Below `$XDG_CONFIG_HOME`.
    package static let agentConfiguration = "tagroute/agent.conf"
    /// The allowed and the blocked handlers, below `$XDG_CONFIG_HOME`.
    package static let handlerChoices = "tagroute/handlers.conf"
    /// The user's rules for taps, a directory below `$XDG_CONFIG_HOME`.
    package static let rules = "tagroute/rules.d"
    /// The administrator's rules for taps.
    package static let systemRules = "/etc/tagroute/rules.d"
    /// The broker and the station, below `$XDG_CONFIG_HOME`. If it exists, the agent keeps an outbox.
    package static let mqttConfiguration = "tagroute/mqtt.conf"
    /// The same by the administrator; read if the user has no file.
    package static let systemMqttConfiguration = "/etc/tagroute/mqtt.conf"
    /// The preferred applications, below `$XDG_CONFIG_HOME` (freedesktop.org's draft "Intent Apps", section 2).
    package static let intentApplications = "intentapps.list"
    /// Below `$XDG_STATE_HOME`.
    package static let agentState = "tagroute"
    /// The inbox, below the agent's state directory.
    package static let inboxDatabase = "inbox.sqlite"
    /// The domains' statements about handlers, a directory below the agent's state directory.
    package static let associations = "associations"
    /// The command-line program, beside the agent or in the directory for user programs.
    package static let commandLineProgram = "tagroute"
  }

  /// The gettext domain, which is the name of the translation catalogues.
  package static let translationDomain = "tagroute"

  /// The poll intervals that can be configured, in milliseconds.
  package static let pollIntervals = 10...10_000

  /// Exit codes of every program, after sysexits.h.
  package enum ExitCode {
    package static let failure: Int32 = 1
    /// EX_USAGE
    package static let usage: Int32 = 64
    /// The named file or object does not exist (EX_NOINPUT).
    package static let noInput: Int32 = 66
    /// The daemon, the agent or a bus cannot be reached (EX_UNAVAILABLE).
    package static let unavailable: Int32 = 69
    /// Another instance is already running and owns the bus name (EX_CANTCREAT).
    package static let alreadyRunning: Int32 = 73
    /// EX_CANTCREAT, for a file.
    package static let cannotCreate: Int32 = 73
    /// EX_IOERR
    package static let outputFailed: Int32 = 74
    /// A later attempt may succeed (EX_TEMPFAIL).
    package static let tryAgain: Int32 = 75
    /// The tap was handed over to an app that did not answer, so the app may have opened it (EX_PROTOCOL).
    package static let outcomeUnknown: Int32 = 76
    /// EX_NOPERM
    package static let notAllowed: Int32 = 77
    /// EX_CONFIG
    package static let configuration: Int32 = 78
  }
}

extension Names {
  /// Readers of pcscd (PC/SC).
  package enum PCSC {
    /// The prefix of `Reader.Device`. pcscd's name of the reader follows.
    package static let devicePrefix = "pcsc:"
    /// `getSocketName` in pcsc-lite's winscard_msg.c.
    package static let socketVariable = "PCSCLITE_CSOCK_NAME"
    /// Below the directory of runtime files.
    package static let socket = "pcscd/pcscd.comm"
    /// `PCSCLITE_MAX_READERS_CONTEXTS` in pcsclite.h.
    package static let mostReaders = 16
    /// `MAX_READERNAME` in pcsclite.h.
    package static let mostBytesOfName = 128

    /// The name comes from a driver, or from the device itself, so it can have any content. It goes into log lines,
    /// arguments of programs and messages on the bus.
    package static func isReaderName(_ text: String) -> Bool {
      (1...mostBytesOfName).contains(text.utf8.count) && isPrintable(text)
    }

    /// No control characters, and none that change how the text around them is shown.
    package static func isPrintable(_ text: String) -> Bool { text.unicodeScalars.allSatisfy(isPrintable) }

    /// Nil if `device` is not `pcsc:NAME`.
    package static func readerName(inDevice device: String) -> String? {
      device.hasPrefix(devicePrefix) ? String(device.dropFirst(devicePrefix.count)) : nil
    }

    /// pcscd appends the numbers of the reader and its slot as ` rr ss`, two hexadecimal digits each (`RFSetReaderName`
    /// in pcsc-lite's readerfactory.c). They depend on the order of plugging, so a configuration does not name them.
    package static func withoutNumbers(_ name: String) -> String {
      let bytes = Array(name.utf8)
      let end = Array(bytes.suffix(6))
      guard bytes.count > 6, end[0] == UInt8(ascii: " "), end[3] == UInt8(ascii: " "),
        [1, 2, 4, 5].allSatisfy({ Character(Unicode.Scalar(end[$0])).isHexDigit })
      else { return name }
      return String(decoding: bytes.dropLast(6), as: UTF8.self)
    }

    /// Whether `wanted`, a name from a configuration, means the reader that pcscd names `reader`. Without numbers it
    /// means each reader of this model.
    package static func means(_ wanted: String, _ reader: String) -> Bool {
      wanted == reader || wanted == withoutNumbers(reader)
    }

    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
      switch scalar.properties.generalCategory {
      case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
      default: true
      }
    }
  }
}

extension Names.Files {
  /// Beside `tagrouted` or in libexec.
  package static let pcscReaderProgram = "tagroute-reader-pcsc"
}

/// Checks of the `platform_data` that a handler is called with. It may come from a bus peer or from a notification
/// server.
extension Names.Handler {
  /// One short word, because it goes into an environment variable of a started program. Neither xdg-activation-v1 nor
  /// the Startup Notification Protocol limits its length.
  package static func isActivationToken(_ text: String) -> Bool {
    isWord(text, atMost: 1024)
  }

  /// A UUID (RFC 9562, section 4).
  package static func isTapID(_ text: String) -> Bool {
    text.utf8.count == 36
      && text.utf8.enumerated().allSatisfy { index, byte in
        [8, 13, 18, 23].contains(index) ? byte == UInt8(ascii: "-") : Character(Unicode.Scalar(byte)).isHexDigit
      }
  }

  /// Such as `type-2`: one short word, because it goes into an environment variable.
  package static func isTechnology(_ text: String) -> Bool { isWord(text, atMost: 32) }

  package static func isReader(_ text: String) -> Bool { text.hasPrefix("/") && isWord(text, atMost: 255) }

  private static func isWord(_ text: String, atMost limit: Int) -> Bool {
    (1...limit).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }
}
