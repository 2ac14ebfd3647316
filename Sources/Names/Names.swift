/// Every name that crosses a process border: buses, paths, interfaces, errors, polkit actions, files.
///
/// Nothing else in the project spells one of these out.
public enum Names {
  /// The version of every program, ``major.minor.patch``.
  public static let version = "0.1.0"

  /// The version of all D-Bus interfaces together, which both bus names tell as `InterfaceVersion`.
  ///
  /// It is raised by one for whatever is added between two releases. Nothing is ever changed or taken away:
  /// `Config/dbus/released` holds what each version has, and `Packaging/check-interfaces` compares.
  public static let interfaceVersion: UInt32 = 1

  /// What an agent says of itself when it registers: keys of the options of `RegisterAgent`.
  public enum Registration {
    /// What the session is like (`a{sb}`), as for `ReportConditions`.
    public static let conditions = "conditions"
    /// The agent's version (`s`).
    public static let version = "version"
    /// The version of the interfaces that it knows (`u`).
    public static let interfaceVersion = "interface-version"
  }

  /// The daemon, on the system bus.
  public enum Daemon {
    /// The well-known name the daemon owns.
    public static let busName = "org.tagroute.Tagroute1"
    /// The manager object.
    public static let path = "/org/tagroute/Tagroute1"
    /// The manager's interface.
    public static let managerInterface = "org.tagroute.Tagroute1"
    /// One object a reader.
    public static let readerInterface = "org.tagroute.Tagroute1.Reader"
    /// One object a manual reader session.
    public static let readerSessionInterface = "org.tagroute.Tagroute1.ReaderSession"
    /// One object a tag in a reader session.
    public static let tagInterface = "org.tagroute.Tagroute1.Tag"
    /// Exported by agents on their own connection to the system bus, called by the daemon alone.
    public static let agentInterface = "org.tagroute.Tagroute1.Agent"
    /// Readers are children of this path, numbered in the order in which they were found.
    public static let readersPath = "/org/tagroute/Tagroute1/readers"
    /// Reader sessions are children of this path, each there for the bus connection that began it.
    public static let readerSessionsPath = "/org/tagroute/Tagroute1/sessions"
  }

  /// What an agent reports of its session: the keys of `ReportConditions`.
  public enum Condition {
    /// The session is locked.
    public static let locked = "locked"
    /// The display is off.
    public static let displayOff = "display-off"
    /// A camera is in use.
    public static let camera = "camera"
    /// Every radio is switched off.
    public static let airplaneMode = "airplane-mode"
    /// The user has said just now that the session is unlocked: no state, and said once.
    public static let unlockedByUser = "unlocked-by-user"
  }

  /// Why a reader session is over: the words of the signal `Ended` and of the property `EndReason`.
  public enum SessionEnd: String, Sendable, CaseIterable {
    /// Its client has called `Invalidate`.
    case invalidated = "invalidated"
    /// The person at the machine does not want it.
    case cancelled = "cancelled"
    /// Its time was up.
    case timedOut = "timed-out"
    /// It was to end after the first message, and that was read.
    case firstRead = "first-read"
    /// The reader is gone, has failed, or was given to another program.
    case readerLost = "reader-lost"
    /// The client's user is no longer the one at the machine, or the session is locked.
    case sessionInactive = "session-inactive"
    /// The machine goes to sleep.
    case sleeping = "sleeping"
    /// The daemon is ending.
    case daemonStopping = "daemon-stopping"
  }

  /// The per-user agent, on the session bus.
  public enum Agent {
    /// The well-known name the agent owns; holding it is what makes an agent the only one.
    public static let busName = "org.tagroute.Agent1"
    /// The agent's object.
    public static let path = "/org/tagroute/Agent1"
    /// The agent's interface.
    public static let interface = "org.tagroute.Agent1"
    /// Where the agent exports `Daemon.agentInterface` on the system bus.
    public static let tapReceiverPath = "/org/tagroute/Tagroute1/Agent"
  }

  /// What a handler app implements.
  public enum Handler {
    /// The interface, and the group in a desktop entry that declares it.
    public static let interface = "org.tagroute.Handler1"
    /// The method that hands a message over: `HandleTag(s uri, ay message, a{sv} platform_data)`.
    public static let handleTag = "HandleTag"
    /// What every application that is activated over D-Bus implements (Desktop Entry Specification).
    public static let applicationInterface = "org.freedesktop.Application"
    /// Its method that opens URIs: `Open(as uris, a{sv} platform_data)`.
    public static let open = "Open"
    /// The draft that other desktops discuss; read as well.
    public static let uriHandlerGroup = "org.freedesktop.UriHandler"
    /// The xdg-activation token (`s`) in `platform_data`.
    public static let activationTokenKey = "activation-token"
    /// The startup notification id (`s`) in `platform_data`, the same as the token.
    public static let startupIDKey = "desktop-startup-id"
    /// The tap's id (`s`, a UUID) in `platform_data`.
    public static let tapIDKey = "tap-id"
  }

  /// D-Bus error names.
  public enum Errors {
    /// What every error name of ours begins with.
    public static let prefix = "org.tagroute.Error."
    /// The caller may not do this.
    public static let notAuthorized = prefix + "NotAuthorized"
    /// The caller has no session that the daemon would serve.
    public static let notASession = prefix + "NotASession"
    /// An argument is out of its range; the message names it.
    public static let invalidArgument = prefix + "InvalidArgument"
    /// The configuration has a mistake, which the message names; the former one stays in force.
    public static let invalidConfiguration = prefix + "InvalidConfiguration"
    /// A limit a caller or a user is reached; the message names it.
    public static let tooMany = prefix + "TooMany"
    /// No tap has this id.
    public static let noSuchTap = prefix + "NoSuchTap"
    /// Another agent serves this session.
    public static let alreadyRegistered = prefix + "AlreadyRegistered"
    /// The tag, the reader or the tap does not allow this.
    public static let notPossible = prefix + "NotPossible"
    /// An app has this tap already; the message says which.
    public static let alreadyDelivered = prefix + "AlreadyDelivered"
    /// It was tried and did not work; the message says why.
    public static let failed = prefix + "Failed"
    /// It was tried, and nobody knows whether it worked; the message says why.
    public static let outcomeUnknown = prefix + "OutcomeUnknown"

    // What keeps an operation on the tag of a reader session from being done.

    /// The tag is away.
    public static let tagLost = prefix + "TagLost"
    /// Not with this kind of tag, or it is not formatted for NDEF.
    public static let notSupported = prefix + "NotSupported"
    /// The tag is read-only.
    public static let readOnly = prefix + "ReadOnly"
    /// The message, or the command, is too long for the tag or the reader.
    public static let tooLong = prefix + "TooLong"
    /// The tag refuses: it is protected, or holds what contradicts itself.
    public static let refused = prefix + "Refused"
    /// The tag is there and did not answer in time.
    public static let timedOut = prefix + "TimedOut"
    /// Too many operations wait already.
    public static let busy = prefix + "Busy"
    /// What was read back is not what was written.
    public static let notAsWritten = prefix + "NotAsWritten"
    /// The tag cannot be made read-only.
    public static let cannotLock = prefix + "CannotLock"
    /// The tag is formatted and holds no message.
    public static let empty = prefix + "Empty"
    /// The reader failed, or was taken away.
    public static let readerLost = prefix + "ReaderLost"
    /// The session has ended.
    public static let sessionEnded = prefix + "SessionEnded"
  }

  /// polkit actions.
  public enum PolkitAction {
    /// Switching background scanning on and off.
    public static let configure = "org.tagroute.Tagroute1.configure"
    /// Keeping background scanning off for a while.
    public static let inhibit = "org.tagroute.Tagroute1.inhibit"
    /// A manual reader session that only reads.
    public static let readTags = "org.tagroute.Tagroute1.read-tags"
    /// A manual reader session that writes or locks.
    public static let writeTags = "org.tagroute.Tagroute1.write-tags"
  }

  /// Files and directories.
  public enum Files {
    /// The daemon's configuration file.
    public static let daemonConfiguration = "/etc/tagroute.conf"
    /// Drop-in directories, in the order of their precedence, the last one wins.
    public static let daemonDropIns = ["/usr/lib/tagroute.conf.d", "/run/tagroute.conf.d", "/etc/tagroute.conf.d"]
    /// What the daemon keeps over a restart.
    public static let daemonState = "/var/lib/tagroute"
    /// Where programs live that no person starts.
    public static let libexec = "/usr/libexec"
    /// The reader process, beside `tagrouted` or in libexec.
    public static let readerProgram = "tagroute-reader"
    /// Below `$XDG_CONFIG_HOME`.
    public static let agentConfiguration = "tagroute/agent.conf"
    /// Which handlers are allowed and which are blocked, below `$XDG_CONFIG_HOME`.
    public static let handlerChoices = "tagroute/handlers.conf"
    /// Who is preferred for what, below `$XDG_CONFIG_HOME` (freedesktop.org's draft "Intent Apps", section 2).
    public static let intentApplications = "intentapps.list"
    /// Below `$XDG_STATE_HOME`.
    public static let agentState = "tagroute"
    /// The inbox, below the agent's state directory.
    public static let inboxDatabase = "inbox.sqlite"
    /// What domains say of handlers, a directory below the agent's state directory.
    public static let associations = "associations"
    /// The command line, beside the agent or where programs of users are.
    public static let commandLineProgram = "tagroute"
  }

  /// gettext's domain, which names the catalogues of translations.
  public static let translationDomain = "tagroute"

  /// Kinds of tags, as configuration, bus and log name them.
  public static let technologies = ["type-1", "type-2", "type-3", "type-4a", "type-4b", "mifare-classic"]

  /// Milliseconds from one look for tags to the next that can be configured.
  public static let pollIntervals = 10...10_000

  /// Exit codes of every program, after sysexits.h.
  public enum ExitCode {
    /// Something went wrong that no other code names.
    public static let failure: Int32 = 1
    /// The command line is wrong (EX_USAGE).
    public static let usage: Int32 = 64
    /// What was named is not there (EX_NOINPUT).
    public static let noInput: Int32 = 66
    /// The daemon, the agent or a bus cannot be reached (EX_UNAVAILABLE).
    public static let unavailable: Int32 = 69
    /// Another instance runs already and owns the bus name (EX_CANTCREAT).
    public static let alreadyRunning: Int32 = 73
    /// A file cannot be written (EX_CANTCREAT).
    public static let cannotCreate: Int32 = 73
    /// What there is to say cannot be written (EX_IOERR).
    public static let outputFailed: Int32 = 74
    /// It may work later (EX_TEMPFAIL).
    public static let tryAgain: Int32 = 75
    /// It was handed to an app that did not answer, so it may have been opened (EX_PROTOCOL).
    public static let outcomeUnknown: Int32 = 76
    /// Permission denied (EX_NOPERM).
    public static let notAllowed: Int32 = 77
    /// A configuration file is wrong (EX_CONFIG).
    public static let configuration: Int32 = 78
  }
}
