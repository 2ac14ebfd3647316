/// What is exported where: the tree of objects, without a bus.
struct ExportedObjects {
  struct Object {
    /// Tells this export of the path from an earlier or later one.
    let token: UInt64
    let interfaces: [ExportedInterface]
    let isObjectManager: Bool
    /// Whether InterfacesAdded has been sent, so that InterfacesRemoved is due at the end.
    var isAnnounced = false

    func interface(_ name: String) -> ExportedInterface? {
      interfaces.first { $0.name == name }
    }
  }

  private var objects: [ObjectPath: Object] = [:]

  subscript(path: ObjectPath) -> Object? {
    get { objects[path] }
    set { objects[path] = newValue }
  }

  /// Whether anything is exported at or below `path`, so that introspection has something to show there.
  func hasNode(_ path: ObjectPath) -> Bool {
    path == .root || objects.keys.contains { $0 == path || $0.isBelow(path) }
  }

  /// The names of the nodes right below `path`, sorted.
  func children(of path: ObjectPath) -> [String] {
    Set(objects.keys.compactMap { $0.child(of: path) }).sorted()
  }

  /// The paths of the objects below `path`, sorted.
  func descendants(of path: ObjectPath) -> [ObjectPath] {
    objects.keys.filter { $0.isBelow(path) }.sorted()
  }

  /// The paths of the object managers above `path`, sorted.
  func managers(above path: ObjectPath) -> [ObjectPath] {
    objects.filter { $0.value.isObjectManager && path.isBelow($0.key) }.keys.sorted()
  }
}
