extension DeviceTestbed {
  /// Plugs a reader for smart cards in. `name` is its port, for example `1-1.2`, `identity` is vendor and product, for
  /// example `072f:223b`, and `number` is its number on bus 1. `interfaces` are the names of its interfaces, of which
  /// each is a slot; nil for one without a name. Returns its path, for `unplug(_:)`.
  package func plugCardReader(
    _ name: String, _ identity: String, interfaces: [String?], number: Int, serial: String? = nil
  ) async throws -> String {
    let ids = identity.split(separator: ":")
    var values = [
      "idVendor=\(ids[0])", "idProduct=\(ids[1])", "busnum=1", "devnum=\(number)", "DEVTYPE=usb_device",
      "DEVNAME=/dev/bus/usb/001/\(String(1000 + number).dropFirst())",
    ]
    if let serial { values.append("serial=\(serial)") }
    let path = try await add(name, "usb", values)
    var added: [String] = []
    for (index, text) in interfaces.enumerated() {
      var values = ["DEVTYPE=usb_interface", "bInterfaceClass=0b", "bInterfaceNumber=0\(index)"]
      if let text { values.append("interface=\(text.split(separator: " ").joined(separator: "%20"))") }
      added.append(try await add("\(name):1.\(index)", "usb", on: path, values))
    }
    try await event(path, "add")
    for interface in added { try await event(interface, "add") }
    return path
  }
}
