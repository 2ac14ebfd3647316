/// What is exported where: the tree of objects, without a bus.
struct ExportedObjects {
  struct Object {
    /// Tells this export of the path from an earlier or later one.
    let token: UInt64
    let interfaces: [ExportedInterface]
    let isObjectManager: Bool
    /// The unique name of the only peer for whom it is there; nil for everybody.
    let peer: String?
    /// Whether InterfacesAdded has been sent, so that InterfacesRemoved is due at the end.
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

  /// The object at `path` as `peer` sees it: nil also where it is there for another one only.
  func object(_ path: ObjectPath, for peer: String) -> Object? {
    objects[path].flatMap { $0.isThere(for: peer) ? $0 : nil }
  }

  /// Whether anything is exported for `peer` at or below `path`, so that introspection has something to show there.
  func hasNode(_ path: ObjectPath, for peer: String) -> Bool {
    path == .root || objects.contains { ($0.key == path || $0.key.isBelow(path)) && $0.value.isThere(for: peer) }
  }

  /// The names of the nodes right below `path` in which there is something for `peer`, sorted.
  func children(of path: ObjectPath, for peer: String) -> [String] {
    Set(objects.compactMap { $0.value.isThere(for: peer) ? $0.key.child(of: path) : nil }).sorted()
  }

  /// The paths of the objects below `path` that are there for `peer`, sorted.
  func descendants(of path: ObjectPath, for peer: String) -> [ObjectPath] {
    objects.filter { $0.key.isBelow(path) && $0.value.isThere(for: peer) }.keys.sorted()
  }

  /// The paths of the object managers above `path`, sorted.
  func managers(above path: ObjectPath) -> [ObjectPath] {
    objects.filter { $0.value.isObjectManager && path.isBelow($0.key) }.keys.sorted()
  }
}
