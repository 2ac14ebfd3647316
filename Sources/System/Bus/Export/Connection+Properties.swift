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
