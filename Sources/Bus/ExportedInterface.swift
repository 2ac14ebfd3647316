/// A method call that has arrived; its arguments have the declared types.
public struct IncomingCall: Sendable, Hashable {
  /// The caller's unique name. The bus vouches for it.
  public let sender: String
  /// The object called.
  public let path: ObjectPath
  /// The interface called.
  public let interface: String
  /// The method called; for a property that is set, `Set`.
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
  /// Answers a call. Runs on the connection's loop unless it is isolated elsewhere. A thrown `BusError` is sent as it is.
  public typealias Handler = @Sendable (IncomingCall) async throws -> [Value]
  /// The method's name.
  public let name: String
  /// What a caller gives.
  public let input: [Argument]
  /// What a caller gets.
  public let output: [Argument]
  /// Annotations by name, as introspection shows them.
  public let annotations: [String: String]
  let handler: Handler

  /// - Parameters:
  ///   - name: the method's name.
  ///   - input: what a caller gives.
  ///   - output: what a caller gets. A reply that does not fit is not sent; the caller gets an error.
  ///   - annotations: annotations by name, as introspection shows them.
  ///   - handler: answers a call. Several calls may be answered at a time; they start in the order of their arrival.
  public init(
    _ name: String, in input: [Argument] = [], out output: [Argument] = [], annotations: [String: String] = [:],
    handler: @escaping Handler
  ) {
    self.name = name
    self.input = input
    self.output = output
    self.annotations = annotations
    self.handler = handler
  }

  var inputSignature: String { input.map(\.signature.string).joined() }
  var outputSignature: String { output.map(\.signature.string).joined() }
}

/// A property of an exported object.
public struct ExportedProperty: Sendable {
  /// What others are told when the property changes (`org.freedesktop.DBus.Property.EmitsChangedSignal`).
  public enum ChangeSignal: String, Sendable, Hashable {
    /// The new value.
    case changed = "true"
    /// That it has changed.
    case invalidated = "invalidates"
    /// Nothing, because it never does.
    case const = "const"
    /// Nothing.
    case none = "false"
  }

  /// Gives the present value.
  public typealias Getter = @Sendable () async -> Value
  /// Takes a new value, of the declared type. A thrown `BusError` is sent as it is.
  public typealias Setter = @Sendable (Value, IncomingCall) async throws -> Void

  /// The property's name.
  public let name: String
  /// One complete type.
  public let signature: Signature
  /// What others are told when it changes.
  public let emits: ChangeSignal
  /// Annotations by name besides the one that `emits` stands for.
  public let annotations: [String: String]
  let get: Getter
  let set: Setter?

  /// - Parameters:
  ///   - name: the property's name.
  ///   - signature: one complete type.
  ///   - emits: what others are told when it changes. Telling them takes a call of `propertiesChanged`.
  ///   - annotations: annotations by name besides the one that `emits` stands for.
  ///   - get: gives the present value.
  ///   - set: takes a new value; nil makes it read-only.
  public init(
    _ name: String, _ signature: Signature, emits: ChangeSignal = .changed, annotations: [String: String] = [:],
    get: @escaping Getter, set: Setter? = nil
  ) {
    self.name = name
    self.signature = signature
    self.emits = emits
    self.annotations = annotations
    self.get = get
    self.set = set
  }
}

/// A signal of an exported object, for introspection; `Connection.emit` sends it.
public struct ExportedSignal: Sendable, Hashable {
  /// The signal's name.
  public let name: String
  /// What it carries.
  public let arguments: [Argument]
  /// Annotations by name, as introspection shows them.
  public let annotations: [String: String]

  /// - Parameters:
  ///   - name: the signal's name.
  ///   - arguments: what it carries.
  ///   - annotations: annotations by name, as introspection shows them.
  public init(_ name: String, _ arguments: [Argument] = [], annotations: [String: String] = [:]) {
    self.name = name
    self.arguments = arguments
    self.annotations = annotations
  }

  var signature: String { arguments.map(\.signature.string).joined() }
}

/// An interface of an exported object.
public struct ExportedInterface: Sendable {
  /// The interface's name.
  public let name: String
  /// Its methods, in the order in which introspection shows them.
  public let methods: [ExportedMethod]
  /// Its properties, likewise.
  public let properties: [ExportedProperty]
  /// Its signals, likewise.
  public let signals: [ExportedSignal]
  /// Annotations by name, as introspection shows them.
  public let annotations: [String: String]
  /// How large the arguments of its methods may be.
  public let limits: CallLimits

  /// - Parameters:
  ///   - name: the interface's name.
  ///   - methods: its methods.
  ///   - properties: its properties.
  ///   - signals: its signals.
  ///   - annotations: annotations by name, as introspection shows them.
  ///   - limits: how large the arguments of its methods may be.
  public init(
    _ name: String, methods: [ExportedMethod] = [], properties: [ExportedProperty] = [],
    signals: [ExportedSignal] = [], annotations: [String: String] = [:], limits: CallLimits = .small
  ) {
    self.name = name
    self.methods = methods
    self.properties = properties
    self.signals = signals
    self.annotations = annotations
    self.limits = limits
  }

  /// Throws where something in it could not be called or introspected.
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
