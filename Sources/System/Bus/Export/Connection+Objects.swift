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
