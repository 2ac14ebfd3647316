package import TagrouteClient

/// A reader for people.
extension ReaderStatus {
  /// For a device on a serial line, libnfc uses the connection string as the name.
  package var isNamed: Bool { !name.isEmpty && name != device }
  package var title: String { isNamed ? name : device.isEmpty ? "reader" : device }
  /// The device follows the name.
  package var label: String { isNamed ? "\(name) (\(device))" : title }
}
