/// An error on a bus: an error reply from a peer, or a failure on this side. A failure has the name that libdbus, GLib
/// or sd-bus use for it, so a caller can distinguish all errors in one way.
public struct BusError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The D-Bus error name. `BusError.Name` has the standard ones.
  public let name: String
  /// What happened, and to what; for people.
  public let message: String
  /// The source of the error. The name does not show it: a peer may pass on an error that the bus sent it about another
  /// peer.
  public let speaker: Speaker

  /// The source of an error.
  public enum Speaker: Sendable, Hashable {
    /// This side: no reply arrived, or no message was sent.
    case thisSide
    /// The bus, in place of the called peer.
    case bus
    /// The called peer.
    case peer
  }

  /// - Parameters:
  ///   - name: the D-Bus error name, for example `org.freedesktop.DBus.Error.Failed`.
  ///   - message: what happened, and to what; for people.
  ///   - speaker: the source of the error.
  public init(name: String, message: String, speaker: Speaker = .thisSide) {
    self.name = name
    self.message = message
    self.speaker = speaker
  }

  /// Compares name and message, but not the speaker.
  public static func == (a: BusError, b: BusError) -> Bool { a.name == b.name && a.message == b.message }

  /// Hashes name and message.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(name)
    hasher.combine(message)
  }

  /// The message, then the name in parentheses.
  public var description: String { "\(message) (\(name))" }

  /// Error names of the D-Bus specification and of its common implementations.
  public enum Name {
    /// The prefix of the error names in the D-Bus specification.
    public static let prefix = "org.freedesktop.DBus.Error."
    /// The prefix of sd-bus's names for system errors.
    public static let systemPrefix = "System.Error."
    /// No more specific name fits.
    public static let failed = prefix + "Failed"
    /// Out of memory.
    public static let noMemory = prefix + "NoMemory"
    /// The name has no owner, and the bus cannot start one.
    public static let serviceUnknown = prefix + "ServiceUnknown"
    /// The name has no owner.
    public static let nameHasNoOwner = prefix + "NameHasNoOwner"
    /// The peer left the bus or did not reply.
    public static let noReply = prefix + "NoReply"
    /// This side stopped waiting for the reply after its time-out.
    public static let timeout = prefix + "Timeout"
    /// The caller on this side stopped waiting (sd-bus's name for it).
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
    /// A message that was received or requested does not have the agreed contents.
    public static let inconsistentMessage = prefix + "InconsistentMessage"
  }
}

extension BusError {
  /// The reply did not arrive before the time-out.
  public static func timedOut(_ message: String = "no reply came in time") -> BusError {
    BusError(name: Name.timeout, message: message)
  }

  /// The connection to the bus went down, or is down.
  public static func disconnected(_ message: String = "the connection to the bus is down") -> BusError {
    BusError(name: Name.disconnected, message: message)
  }

  /// The waiting task was cancelled.
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

  /// A value, name or path of this side cannot be sent. No message was sent.
  public static func invalidValue(_ message: String) -> BusError {
    BusError(name: Name.invalidArguments, message: "not sent: \(message)")
  }

  /// A failure without a more specific name.
  public static func failed(_ message: String) -> BusError {
    BusError(name: Name.failed, message: message)
  }

  static func limitsExceeded(_ message: String) -> BusError {
    BusError(name: Name.limitsExceeded, message: message)
  }

  static func noMemory(_ attempt: String) -> BusError {
    BusError(name: Name.noMemory, message: "no memory to \(attempt)")
  }

  /// Whether the connection to the bus was lost or down. The call may or may not have arrived.
  public var isDisconnected: Bool { name == Name.disconnected }

  /// Whether this side stopped waiting for the reply.
  public var isTimeout: Bool { name == Name.timeout }
}
