/// A received method call. Its arguments have the declared types.
public struct IncomingCall: Sendable, Hashable {
  /// The caller's unique name. The bus sets it, so the caller cannot forge it.
  public let sender: String
  /// The called object.
  public let path: ObjectPath
  /// The called interface.
  public let interface: String
  /// The called method; `Set` for a call that sets a property.
  public let member: String
  /// The arguments, of the declared types.
  public let arguments: [Value]
}

/// One argument of a method or a signal.
public struct Argument: Sendable, Hashable {
  /// The name that introspection shows.
  public let name: String
  /// One complete type.
  public let signature: Signature

  /// - Parameters:
  ///   - name: the name that introspection shows.
  ///   - signature: one complete type.
  public init(_ name: String, _ signature: Signature) {
    self.name = name
    self.signature = signature
  }
}

/// A method of an exported object.
public struct ExportedMethod: Sendable {
  /// Answers a call, on the loop of the connection, which is the first argument. A thrown `BusError` is sent unchanged.
  ///
  /// With the isolated argument, calls start in the order of their arrival. Without it, Swift 6.3 starts a closure that
  /// awaits an actor on the cooperative pool, even if the closure's type is `nonisolated(nonsending)`.
  public typealias Handler = @Sendable (isolated any Actor, IncomingCall) async throws -> [Value]
  /// The method's name.
  public let name: String
  /// The arguments of a call.
  public let input: [Argument]
  /// The values of a reply.
  public let output: [Argument]
  let handler: Handler

  /// - Parameters:
  ///   - name: the method's name.
  ///   - input: the arguments of a call.
  ///   - output: the values of a reply. If the handler returns other types, the caller gets an error instead.
  ///   - handler: answers a call. Several calls may be in progress at a time. The calls of one sender start in the
  ///     order of their arrival.
  public init(
    _ name: String, in input: [Argument] = [], out output: [Argument] = [], handler: @escaping Handler
  ) {
    self.name = name
    self.input = input
    self.output = output
    self.handler = handler
  }

  var inputSignature: String { input.map(\.signature.string).joined() }
  var outputSignature: String { output.map(\.signature.string).joined() }
}

/// A property of an exported object.
public struct ExportedProperty: Sendable {
  /// The signal that is emitted when the property changes (`org.freedesktop.DBus.Property.EmitsChangedSignal`).
  public enum ChangeSignal: String, Sendable, Hashable {
    /// PropertiesChanged with the new value.
    case changed = "true"
    /// PropertiesChanged without the new value.
    case invalidated = "invalidates"
    /// No signal, because the value never changes.
    case const = "const"
    /// No signal, although the value may change.
    case none = "false"
  }

  /// Returns the current value, on the loop of the connection, which is the argument. See ``ExportedMethod/Handler``.
  public typealias Getter = @Sendable (isolated any Actor) async -> Value
  /// Sets a new value of the declared type. A thrown `BusError` is sent unchanged.
  public typealias Setter = @Sendable (Value, IncomingCall) async throws -> Void

  /// The property's name.
  public let name: String
  /// One complete type.
  public let signature: Signature
  /// The signal that is emitted when it changes.
  public let emits: ChangeSignal
  let get: Getter
  let set: Setter?

  /// - Parameters:
  ///   - name: the property's name.
  ///   - signature: one complete type.
  ///   - emits: the signal that is emitted when it changes. Call `propertiesChanged` to emit it.
  ///   - get: returns the current value.
  ///   - set: sets a new value; nil makes the property read-only.
  public init(
    _ name: String, _ signature: Signature, emits: ChangeSignal = .changed, get: @escaping Getter, set: Setter? = nil
  ) {
    self.name = name
    self.signature = signature
    self.emits = emits
    self.get = get
    self.set = set
  }
}

/// A signal of an exported object, as introspection shows it. `Connection.emit` sends it.
public struct ExportedSignal: Sendable, Hashable {
  /// The signal's name.
  public let name: String
  /// Its arguments.
  public let arguments: [Argument]

  /// - Parameters:
  ///   - name: the signal's name.
  ///   - arguments: its arguments.
  public init(_ name: String, _ arguments: [Argument] = []) {
    self.name = name
    self.arguments = arguments
  }

  var signature: String { arguments.map(\.signature.string).joined() }
}

/// An interface of an exported object.
public struct ExportedInterface: Sendable {
  /// The interface's name.
  public let name: String
  /// Its methods, in the order in which introspection shows them.
  public let methods: [ExportedMethod]
  /// Its properties, in the order in which introspection shows them.
  public let properties: [ExportedProperty]
  /// Its signals, in the order in which introspection shows them.
  public let signals: [ExportedSignal]
  /// Limits on the size of the arguments of its methods.
  public let limits: CallLimits

  /// - Parameters:
  ///   - name: the interface's name.
  ///   - methods: its methods.
  ///   - properties: its properties.
  ///   - signals: its signals.
  ///   - limits: limits on the size of the arguments of its methods.
  public init(
    _ name: String, methods: [ExportedMethod] = [], properties: [ExportedProperty] = [],
    signals: [ExportedSignal] = [], limits: CallLimits = .small
  ) {
    self.name = name
    self.methods = methods
    self.properties = properties
    self.signals = signals
    self.limits = limits
  }

  /// Throws if a name or a type is invalid, a member is declared twice, or the name belongs to a standard interface.
  func validate() throws(BusError) {
    try NameRules.requireInterface(name)
    guard !Introspection.standardInterfaces.keys.contains(name) else {
      throw .invalidValue("\(name) is exported by every connection itself")
    }
    for members in [methods.map(\.name), properties.map(\.name), signals.map(\.name)] {
      for member in members { try NameRules.requireMember(member) }
      guard Set(members).count == members.count else { throw .invalidValue("\(name) has two members of one name") }
    }
    let arguments = methods.flatMap { $0.input + $0.output } + signals.flatMap(\.arguments)
    let types = arguments.map(\.signature) + properties.map(\.signature)
    guard types.allSatisfy(\.isSingleType) else {
      throw .invalidValue("an argument or a property of \(name) is not of one complete type")
    }
    for text in methods.flatMap({ [$0.inputSignature, $0.outputSignature] }) + signals.map(\.signature) {
      _ = try Signature(text)
    }
  }
}

/// Limits on the size of the arguments of a call to an exported interface. A larger call is refused with
/// `org.freedesktop.DBus.Error.LimitsExceeded`, and decoding stops at the limit.
public struct CallLimits: Sendable, Hashable {
  /// Values of any kind, including those inside containers. An array of bytes is one value.
  public let values: Int
  /// Bytes of text and of byte arrays together.
  public let bytes: Int

  /// - Parameters:
  ///   - values: values of any kind, including those inside containers. An array of bytes is one value.
  ///   - bytes: bytes of text and of byte arrays together.
  public init(values: Int, bytes: Int) {
    self.values = values
    self.bytes = bytes
  }

  /// For calls with a few names, numbers and options: 1,000 values, 64 KiB.
  public static let small = CallLimits(values: 1000, bytes: 64 << 10)
  /// For calls that carry the NDEF message of a tag, which has at most 1 MiB, in addition to `small`.
  public static let tagMessage = CallLimits(values: 1000, bytes: (1 << 20) + small.bytes)
}
