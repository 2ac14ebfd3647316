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
