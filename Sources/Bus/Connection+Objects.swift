extension Connection {
  /// Exports an object, until `unexport` or the connection's end; the bus coming and going does not matter.
  ///
  /// Peer, Introspectable and Properties come with it, and ObjectManager where asked for. Where an object manager is
  /// exported at a path above, InterfacesAdded is emitted there, once the getters have given their values.
  ///
  /// - Parameters:
  ///   - interfaces: what the object does.
  ///   - path: where.
  ///   - objectManager: whether it lists the objects below it.
  ///   - peer: a unique name: the object is there for this peer only. Everybody else is told what is told of a path where
  ///     nothing is, nodes above do not show it, and its signals go to this peer alone.
  /// - Throws: `BusError` where an interface is not well-formed, or the path is taken.
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

  /// Takes an object back; those below it stay. Calls that are being answered are answered.
  ///
  /// - Parameter path: where it is; where nothing is, nothing happens.
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
    // Meanwhile it may have gone, or another may have come.
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
