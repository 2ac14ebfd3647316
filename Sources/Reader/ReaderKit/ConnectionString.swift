/// libnfc's names of devices: a driver, and what that driver needs to find the device.
package enum ConnectionString {
  /// The file in a connection string such as `pn532_uart:/dev/ttyUSB0:115200`; nil if it names none.
  package static func path(of connectionString: String) -> String? {
    let parts = connectionString.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count >= 2, parts[1].hasPrefix("/") else { return nil }
    return String(parts[1])
  }
}
