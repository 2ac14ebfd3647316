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
