extension Connection {
  /// Exports an object until `unexport` or the end of the connection. Reconnections do not affect it.
  ///
  /// The object also has Peer, Introspectable and Properties, and ObjectManager on request. If an object manager is
  /// exported at a path above, it emits InterfacesAdded after the getters have returned their values.
  ///
  /// - Parameters:
  ///   - interfaces: the interfaces of the object.
  ///   - path: the path of the object.
  ///   - objectManager: whether the object lists the objects below it.
  ///   - peer: the unique name of the only peer that can see the object. Other peers get the errors of a path without
  ///     an object, and nodes above do not list it for them. The object's signals go only to this peer.
  /// - Throws: `BusError` if an interface is invalid, the path is in use, or the connection is closed.
  public func export(
    _ interfaces: [ExportedInterface], at path: ObjectPath, objectManager: Bool = false, for peer: String? = nil
  ) throws(BusError) {
    if case .closed(let reason) = phase { throw reason }
    guard objects[path] == nil else { throw .invalidValue("an object is exported at \(path) already") }
    if let peer { try NameRules.requireBusName(peer) }
    for interface in interfaces { try interface.validate() }
    guard Set(interfaces.map(\.name)).count == interfaces.count else {
      throw .invalidValue("two interfaces of one name are to be exported at \(path)")
    }
    let token = makeToken()
    objects[path] = .init(token: token, interfaces: interfaces, isObjectManager: objectManager, peer: peer)
    guard !objects.managers(above: path).isEmpty else { return }
    Task { [weak self] in await self?.announce(path, token) }
  }

  /// Removes an object, but not those below it. Calls in progress are still answered.
  ///
  /// - Parameter path: the path of the object. If there is none, the call has no effect.
  public func unexport(_ path: ObjectPath) {
    guard let object = objects[path] else { return }
    objects[path] = nil
    guard object.isAnnounced else { return }
    for manager in objects.managers(above: path) {
      try? emit(
        path: manager, interface: Introspection.objectManager, member: "InterfacesRemoved",
        [.objectPath(path), .strings(object.interfaces.map(\.name))], destination: object.peer)
    }
  }

  private func announce(_ path: ObjectPath, _ token: UInt64) async {
    guard let object = objects[path], object.token == token else { return }
    let description = await describe(object)
    // The object may have been removed or replaced in the meantime.
    guard objects[path]?.token == token else { return }
    objects[path]?.isAnnounced = true
    for manager in objects.managers(above: path) {
      try? emit(
        path: manager, interface: Introspection.objectManager, member: "InterfacesAdded",
        [.objectPath(path), description], destination: object.peer)
    }
  }

  func managedObjects(below path: ObjectPath, for peer: String) async throws(BusError) -> Value {
    var entries: [DictionaryEntry] = []
    for path in objects.descendants(of: path, for: peer) {
      guard let object = objects.object(path, for: peer) else { continue }
      entries.append(DictionaryEntry(.objectPath(path), await describe(object)))
    }
    return .dictionary(key: "o", value: "a{sa{sv}}", entries)
  }

  /// `a{sa{sv}}`: the interfaces and the values of their properties.
  private func describe(_ object: ExportedObjects.Object) async -> Value {
    var entries: [DictionaryEntry] = []
    for interface in object.interfaces {
      let values = await properties(of: interface)
      entries.append(DictionaryEntry(.string(interface.name), .dictionary(wrapping: values)))
    }
    return .dictionary(key: "s", value: "a{sv}", entries)
  }
}

extension Connection {
  /// Emits PropertiesChanged with the values that the getters return now.
  ///
  /// Properties declared as `const` or `none` are left out. While the connection is down, the signal is dropped.
  ///
  /// - Parameters:
  ///   - names: the names of the properties that changed.
  ///   - interface: their interface.
  ///   - path: the exported object.
  public func propertiesChanged(_ names: [String], of interface: String, at path: ObjectPath) async {
    guard let properties = objects[path]?.interface(interface)?.properties else { return }
    let token = objects[path]?.token
    var changed: [String: Value] = [:]
    var invalidated: [String] = []
    for property in properties where names.contains(property.name) {
      switch property.emits {
      case .changed:
        // A value of the wrong type is not sent. A client that then calls `Get` receives the error.
        if let value = try? await value(of: property, interface: interface) {
          changed[property.name] = value
        } else {
          invalidated.append(property.name)
        }
      case .invalidated: invalidated.append(property.name)
      case .const, .none: break
      }
    }
    guard !(changed.isEmpty && invalidated.isEmpty), let object = objects[path], object.token == token else { return }
    try? emit(
      path: path, interface: Introspection.properties, member: "PropertiesChanged",
      [.string(interface), .dictionary(wrapping: changed), .strings(invalidated)], destination: object.peer)
  }

  /// The property that a call of `Get` or `Set` names, and the name of its interface.
  func property(of call: IncomingCall) throws(BusError) -> (ExportedProperty, interface: String) {
    guard let interfaceName = call.arguments.first?.asString, let name = call.arguments.dropFirst().first?.asString
    else { throw .invalidArguments("an interface and a property must be named") }
    for interface in try interfaces(named: interfaceName, of: call) {
      if let property = interface.properties.first(where: { $0.name == name }) { return (property, interface.name) }
    }
    throw BusError(
      name: BusError.Name.unknownProperty,
      message: "the object \(call.path) has no property \(name.debugDescription) of \(interfaceName.debugDescription)")
  }

  /// The interface with this name, or all if the name is empty ("org.freedesktop.DBus.Properties" in the
  /// specification).
  private func interfaces(named name: String, of call: IncomingCall) throws(BusError) -> [ExportedInterface] {
    let all = objects.object(call.path, for: call.sender)?.interfaces ?? []
    guard !name.isEmpty else { return all }
    guard let interface = all.first(where: { $0.name == name }) else {
      if Introspection.standardInterfaces.keys.contains(name) { return [] }
      throw BusError(
        name: BusError.Name.unknownInterface,
        message: "the object \(call.path) has no interface \(name.debugDescription)")
    }
    return [interface]
  }

  /// The value that the getter returns, if it has the declared type.
  func value(of property: ExportedProperty, interface: String) async throws(BusError) -> Value {
    let value = await property.get(self)
    let signature = try WireCheck.signature(of: [value])
    guard signature == property.signature else {
      throw .failed("the value of \(interface).\(property.name) is of type \(signature), not \(property.signature)")
    }
    return value
  }

  func setProperty(_ call: IncomingCall) async throws(BusError) {
    let (property, interface) = try property(of: call)
    guard let set = property.set else {
      throw BusError(
        name: BusError.Name.propertyReadOnly, message: "\(interface).\(property.name) cannot be set")
    }
    guard case .variant(let value)? = call.arguments.last, value.typeCode() == property.signature.string else {
      throw .invalidArguments("\(interface).\(property.name) is of type \(property.signature)")
    }
    do {
      try await set(
        value,
        IncomingCall(
          sender: call.sender, path: call.path, interface: interface, member: call.member, arguments: [value]))
    } catch let error as BusError {
      throw error
    } catch {
      throw .failed("\(interface).\(property.name) was not set: \(type(of: error))")
    }
  }

  func allProperties(_ call: IncomingCall) async throws(BusError) -> Value {
    guard let name = call.arguments.first?.asString else { throw .invalidArguments("an interface must be named") }
    var values: [String: Value] = [:]
    for interface in try interfaces(named: name, of: call) {
      for (name, value) in await properties(of: interface) where values[name] == nil { values[name] = value }
    }
    return .dictionary(wrapping: values)
  }

  /// The values of all properties of an interface. Values of the wrong type are left out.
  func properties(of interface: ExportedInterface) async -> [String: Value] {
    var values: [String: Value] = [:]
    for property in interface.properties {
      values[property.name] = try? await value(of: property, interface: interface.name)
    }
    return values
  }
}

extension Value {
  /// `a{sv}` with every value wrapped in a variant. A value that is a variant itself is wrapped too, because a property
  /// of type `v` needs that.
  static func dictionary(wrapping values: [String: Value]) -> Value {
    .dictionary(
      key: "s", value: "v",
      values.sorted { $0.key < $1.key }.map { DictionaryEntry(.string($0.key), .variant($0.value)) })
  }
}

/// The exported objects by path, as plain data without a bus.
struct ExportedObjects {
  struct Object {
    /// Distinguishes this export of the path from an earlier or later one.
    let token: UInt64
    let interfaces: [ExportedInterface]
    let isObjectManager: Bool
    /// The unique name of the only peer that can see the object; nil if all peers can.
    let peer: String?
    /// Whether InterfacesAdded was sent, so that InterfacesRemoved has to follow at the end.
    var isAnnounced = false

    func isThere(for peer: String) -> Bool { self.peer == nil || self.peer == peer }

    func interface(_ name: String) -> ExportedInterface? {
      interfaces.first { $0.name == name }
    }
  }

  private var objects: [ObjectPath: Object] = [:]

  subscript(path: ObjectPath) -> Object? {
    get { objects[path] }
    set { objects[path] = newValue }
  }

  /// The object at `path`, or nil if `peer` cannot see one there.
  func object(_ path: ObjectPath, for peer: String) -> Object? {
    objects[path].flatMap { $0.isThere(for: peer) ? $0 : nil }
  }

  /// Whether introspection shows a node at `path`: the root, or a path at or above an object that `peer` can see.
  func hasNode(_ path: ObjectPath, for peer: String) -> Bool {
    path == .root || objects.contains { ($0.key == path || $0.key.isBelow(path)) && $0.value.isThere(for: peer) }
  }

  /// The names of the child nodes of `path` that `peer` can see, sorted.
  func children(of path: ObjectPath, for peer: String) -> [String] {
    Set(objects.compactMap { $0.value.isThere(for: peer) ? $0.key.child(of: path) : nil }).sorted()
  }

  /// The paths of the objects below `path` that `peer` can see, sorted.
  func descendants(of path: ObjectPath, for peer: String) -> [ObjectPath] {
    objects.filter { $0.key.isBelow(path) && $0.value.isThere(for: peer) }.keys.sorted()
  }

  /// The paths of the object managers above `path`, sorted.
  func managers(above path: ObjectPath) -> [ObjectPath] {
    objects.filter { $0.value.isObjectManager && path.isBelow($0.key) }.keys.sorted()
  }
}
