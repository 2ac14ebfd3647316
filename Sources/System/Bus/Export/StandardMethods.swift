internal import CDBus

/// The methods that every connection answers itself ("Standard Interfaces" in the specification).
enum StandardMethod: CaseIterable {
  case ping, getMachineID, introspect, get, set, getAll, getManagedObjects

  var interface: String {
    switch self {
    case .ping, .getMachineID: Introspection.peer
    case .introspect: Introspection.introspectable
    case .get, .set, .getAll: Introspection.properties
    case .getManagedObjects: Introspection.objectManager
    }
  }

  private var member: String {
    switch self {
    case .ping: "Ping"
    case .getMachineID: "GetMachineId"
    case .introspect: "Introspect"
    case .get: "Get"
    case .set: "Set"
    case .getAll: "GetAll"
    case .getManagedObjects: "GetManagedObjects"
    }
  }

  var inputSignature: String {
    switch self {
    case .ping, .getMachineID, .introspect, .getManagedObjects: ""
    case .get: "ss"
    case .set: "ssv"
    case .getAll: "s"
    }
  }

  /// The standard method that a call names, or nil if it names a method of an exported interface. A call without an
  /// interface never names a standard method.
  init?(interface: String?, member: String) {
    guard let found = Self.allCases.first(where: { $0.interface == interface && $0.member == member }) else {
      return nil
    }
    self = found
  }

  /// Whether `object` has this method. Peer exists at every path, and nodes without an object can be introspected.
  func applies(to object: ExportedObjects.Object?) -> Bool {
    switch self {
    case .ping, .getMachineID, .introspect: true
    case .get, .set, .getAll: object != nil
    case .getManagedObjects: object?.isObjectManager == true
    }
  }
}

extension Connection {
  func answer(_ method: StandardMethod, _ call: IncomingCall) async throws(BusError) -> [Value] {
    switch method {
    case .ping: return []
    case .getMachineID: return [.string(try machineID())]
    case .introspect:
      guard objects.hasNode(call.path, for: call.sender) else {
        throw BusError(name: BusError.Name.unknownObject, message: "there is no object \(call.path)")
      }
      let object = objects.object(call.path, for: call.sender)
      return [.string(Introspection.document(object, children: objects.children(of: call.path, for: call.sender)))]
    case .get:
      let (property, name) = try property(of: call)
      return [.variant(try await value(of: property, interface: name))]
    case .set:
      try await setProperty(call)
      return []
    case .getAll: return [try await allProperties(call)]
    case .getManagedObjects: return [try await managedObjects(below: call.path, for: call.sender)]
    }
  }

  private func machineID() throws(BusError) -> String {
    var error = DBusError()
    dbus_error_init(&error)
    defer { dbus_error_free(&error) }
    guard let text = dbus_try_get_local_machine_id(&error) else {
      throw .failed(error.message.map { String(cString: $0) } ?? "this machine has no id")
    }
    defer { dbus_free(text) }
    return String(cString: text)
  }
}
