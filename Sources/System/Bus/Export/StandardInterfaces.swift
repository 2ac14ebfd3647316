internal import CDBus

extension Introspection {
  static let peer = "org.freedesktop.DBus.Peer"
  static let introspectable = "org.freedesktop.DBus.Introspectable"
  static let properties = "org.freedesktop.DBus.Properties"
  static let objectManager = "org.freedesktop.DBus.ObjectManager"

  /// The interfaces that a connection answers itself ("Standard Interfaces" in the specification), for introspection.
  /// `StandardMethod` answers their calls.
  static let standardInterfaces: [String: ExportedInterface] = [
    peer: ExportedInterface(
      peer,
      methods: [
        described("Ping"),
        described("GetMachineId", out: [Argument("machine_uuid", "s")]),
      ]),
    introspectable: ExportedInterface(
      introspectable,
      methods: [described("Introspect", out: [Argument("xml_data", "s")])]),
    properties: ExportedInterface(
      properties,
      methods: [
        described(
          "Get", in: [Argument("interface_name", "s"), Argument("property_name", "s")], out: [Argument("value", "v")]),
        described(
          "Set",
          in: [Argument("interface_name", "s"), Argument("property_name", "s"), Argument("value", "v")]),
        described("GetAll", in: [Argument("interface_name", "s")], out: [Argument("properties", "a{sv}")]),
      ],
      signals: [
        ExportedSignal(
          "PropertiesChanged",
          [
            Argument("interface_name", "s"), Argument("changed_properties", "a{sv}"),
            Argument("invalidated_properties", "as"),
          ])
      ]),
    objectManager: ExportedInterface(
      objectManager,
      methods: [described("GetManagedObjects", out: [Argument("objects", "a{oa{sa{sv}}}")])],
      signals: [
        ExportedSignal(
          "InterfacesAdded",
          [Argument("object_path", "o"), Argument("interfaces_and_properties", "a{sa{sv}}")]),
        ExportedSignal("InterfacesRemoved", [Argument("object_path", "o"), Argument("interfaces", "as")]),
      ]),
  ]

  private static func described(
    _ name: String, in input: [Argument] = [], out output: [Argument] = []
  ) -> ExportedMethod {
    ExportedMethod(name, in: input, out: output) { _, _ in throw BusError.failed("answered elsewhere") }
  }
}

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

/// The answer to `Introspect` ("Introspection Data Format" in the specification).
enum Introspection {
  /// The XML document for a node. `object` is nil if the node only has children.
  static func document(_ object: ExportedObjects.Object?, children: [String]) -> String {
    var lines = [
      #"<!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN""#,
      #" "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">"#,
      "<node>",
    ]
    var standard = [peer, introspectable]
    if object != nil { standard.append(properties) }
    if object?.isObjectManager == true { standard.append(objectManager) }
    for interface in standard.compactMap({ standardInterfaces[$0] }) + (object?.interfaces ?? []) {
      lines += describe(interface)
    }
    for child in children { lines.append(#" <node name="\#(escape(child))"/>"#) }
    lines.append("</node>\n")
    return lines.joined(separator: "\n")
  }

  private static func describe(_ interface: ExportedInterface) -> [String] {
    var lines = [#" <interface name="\#(escape(interface.name))">"#]
    for method in interface.methods {
      let arguments =
        method.input.map { argument($0, direction: "in") } + method.output.map { argument($0, direction: "out") }
      lines += element("method", method.name, arguments)
    }
    for property in interface.properties {
      let access = property.set == nil ? "read" : "readwrite"
      let emits = #""org.freedesktop.DBus.Property.EmitsChangedSignal" value="\#(property.emits.rawValue)""#
      let attributes = #"" type="\#(property.signature)" access="\#(access)"#
      lines.append(#"  <property name="\#(escape(property.name))\#(attributes)">"#)
      lines.append("   <annotation name=\(emits)/>")
      lines.append("  </property>")
    }
    for signal in interface.signals {
      lines += element("signal", signal.name, signal.arguments.map { argument($0, direction: nil) })
    }
    lines.append(" </interface>")
    return lines
  }

  private static func element(_ kind: String, _ name: String, _ content: [String]) -> [String] {
    content.isEmpty
      ? [#"  <\#(kind) name="\#(escape(name))"/>"#]
      : [#"  <\#(kind) name="\#(escape(name))">"#] + content + ["  </\(kind)>"]
  }

  private static func argument(_ argument: Argument, direction: String?) -> String {
    let direction = direction.map { #" direction="\#($0)""# } ?? ""
    return #"   <arg name="\#(escape(argument.name))" type="\#(argument.signature)"\#(direction)/>"#
  }

  private static func escape(_ text: String) -> String {
    text.reduce(into: "") { result, character in
      switch character {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      default: result.append(character)
      }
    }
  }
}
