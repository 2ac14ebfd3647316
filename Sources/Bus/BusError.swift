/// What went wrong on a bus: an error reply from a peer, or a failure on this side under the name that libdbus, GLib or
/// sd-bus use for it, so that a caller needs one way of telling errors apart.
public struct BusError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The D-Bus error name. `BusError.Name` has those that are standard.
  public let name: String
  /// What happened, to what; for a person.
  public let message: String
  /// Who says so. The name does not tell: a peer may answer with what the bus has said to it about somebody else.
  public let speaker: Speaker

  /// Who says that something went wrong.
  public enum Speaker: Sendable, Hashable {
    /// This side: no answer has come, or nothing was sent.
    case thisSide
    /// The bus, in the place of the peer that was called.
    case bus
    /// The peer that was called.
    case peer
  }

  /// - Parameters:
  ///   - name: the D-Bus error name, for example `org.freedesktop.DBus.Error.Failed`.
  ///   - message: what happened, to what; for a person.
  ///   - speaker: who says so.
  public init(name: String, message: String, speaker: Speaker = .thisSide) {
    self.name = name
    self.message = message
    self.speaker = speaker
  }

  /// Two are equal that say the same, whoever says it.
  public static func == (a: BusError, b: BusError) -> Bool { a.name == b.name && a.message == b.message }

  /// Hashes what it says.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(name)
    hasher.combine(message)
  }

  /// The message, then the name in parentheses.
  public var description: String { "\(message) (\(name))" }

  /// Error names of the D-Bus specification and of its common implementations.
  public enum Name {
    /// What the names of the D-Bus specification begin with.
    public static let prefix = "org.freedesktop.DBus.Error."
    /// What sd-bus's names for the system's errors begin with.
    public static let systemPrefix = "System.Error."
    /// No more specific name fits.
    public static let failed = prefix + "Failed"
    /// There is no memory for this.
    public static let noMemory = prefix + "NoMemory"
    /// Nobody owns the name, and it cannot be started.
    public static let serviceUnknown = prefix + "ServiceUnknown"
    /// Nobody owns the name.
    public static let nameHasNoOwner = prefix + "NameHasNoOwner"
    /// The peer left the bus, or answered never.
    public static let noReply = prefix + "NoReply"
    /// This side stopped waiting.
    public static let timeout = prefix + "Timeout"
    /// This side's caller stopped waiting (sd-bus's name for it).
    public static let cancelled = systemPrefix + "ECANCELED"
    /// The connection to the bus is down.
    public static let disconnected = prefix + "Disconnected"
    /// The bus could not be reached.
    public static let noServer = prefix + "NoServer"
    /// A limit is reached.
    public static let limitsExceeded = prefix + "LimitsExceeded"
    /// The bus or the peer does not permit this.
    public static let accessDenied = prefix + "AccessDenied"
    /// The other side cannot do this.
    public static let notSupported = prefix + "NotSupported"
    /// The arguments have the wrong types or values.
    public static let invalidArguments = prefix + "InvalidArgs"
    /// The object has no such method.
    public static let unknownMethod = prefix + "UnknownMethod"
    /// There is no such object.
    public static let unknownObject = prefix + "UnknownObject"
    /// The object has no such interface.
    public static let unknownInterface = prefix + "UnknownInterface"
    /// The interface has no such property.
    public static let unknownProperty = prefix + "UnknownProperty"
    /// The property cannot be set.
    public static let propertyReadOnly = prefix + "PropertyReadOnly"
    /// The bus could not start the program of the service file.
    public static let spawnExecFailed = prefix + "Spawn.ExecFailed"
    /// The bus has no such service to start.
    public static let spawnServiceNotFound = prefix + "Spawn.ServiceNotFound"
    /// The service file is wrong.
    public static let spawnFileInvalid = prefix + "Spawn.FileInvalid"
    /// A message arrived, or was asked for, that is not what both sides agreed on.
    public static let inconsistentMessage = prefix + "InconsistentMessage"
  }
}

extension BusError {
  /// The call was given up after its time-out.
  public static func timedOut(_ message: String = "no reply came in time") -> BusError {
    BusError(name: Name.timeout, message: message)
  }

  /// The connection to the bus went down, or is down.
  public static func disconnected(_ message: String = "the connection to the bus is down") -> BusError {
    BusError(name: Name.disconnected, message: message)
  }

  /// The task that waited was cancelled.
  public static func cancelled(_ message: String = "the caller stopped waiting") -> BusError {
    BusError(name: Name.cancelled, message: message)
  }

  /// The arguments of a call have the wrong types or values.
  public static func invalidArguments(_ message: String) -> BusError {
    BusError(name: Name.invalidArguments, message: message)
  }

  /// The object has no such method.
  public static func unknownMethod(_ message: String) -> BusError {
    BusError(name: Name.unknownMethod, message: message)
  }

  /// A value, name or path of this side cannot go on the wire; nothing was sent.
  public static func invalidValue(_ message: String) -> BusError {
    BusError(name: Name.invalidArguments, message: "not sent: \(message)")
  }

  /// A failure that no other name fits.
  public static func failed(_ message: String) -> BusError {
    BusError(name: Name.failed, message: message)
  }

  static func limitsExceeded(_ message: String) -> BusError {
    BusError(name: Name.limitsExceeded, message: message)
  }

  static func noMemory(_ attempt: String) -> BusError {
    BusError(name: Name.noMemory, message: "no memory to \(attempt)")
  }

  /// Whether the connection to the bus was lost or absent; the call may or may not have arrived.
  public var isDisconnected: Bool { name == Name.disconnected }

  /// Whether this side stopped waiting for the reply.
  public var isTimeout: Bool { name == Name.timeout }
}
