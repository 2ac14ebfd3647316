import Glibc
import ReaderLink

/// Says which device to open, or what is in the way.
struct DeviceSearch {
  /// Why there is nothing to open.
  struct Obstacle: Error {
    let state: ReaderState
  }

  /// The connection string of the configuration; nil takes what libnfc finds.
  let configured: String?
  /// The connection string of the one that was open before, or may have its field on.
  var known: String?

  func candidate(_ context: OpaquePointer) -> Result<String, Obstacle> {
    candidate { Device.list(context) }
  }

  func candidate(listing: () -> [String]) -> Result<String, Obstacle> {
    if let configured { return Self.check(configured) }
    if let first = listing().first { return .success(first) }
    // On a line libnfc lists who answers: one that does not is still there.
    if let known, Self.path(of: known) != nil, case .success = Self.check(known) { return .success(known) }
    return .failure(Obstacle(state: .absent(reason: "libnfc finds no reader")))
  }

  private static func check(_ configured: String) -> Result<String, Obstacle> {
    let driver = configured.prefix { $0 != ":" }
    guard driver != "pcsc" && driver != "acr122_pcsc" else {
      let why = "the driver \(driver) goes through pcscd, to which a reader process may not speak"
      return .failure(Obstacle(state: .failed(reason: "\(why); end pcscd, and name the reader by acr122_usb, say")))
    }
    // Asked of the file system first: libnfc says only that it could not.
    guard let path = path(of: configured) else { return .success(configured) }
    guard access(path, F_OK) == 0 else {
      return .failure(Obstacle(state: .absent(reason: "\(path) is not there")))
    }
    guard access(path, R_OK | W_OK) == 0 else {
      let words = String(cString: strerror(errno))
      return .failure(
        Obstacle(
          state: .failed(reason: "\(path): \(words); its group must be one of the user's that tagrouted runs as")))
    }
    return .success(configured)
  }

  /// The file of `pn532_uart:/dev/ttyUSB0:115200`; nil where a device is not named by a file.
  static func path(of connectionString: String) -> String? {
    let parts = connectionString.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count >= 2, parts[1].hasPrefix("/") else { return nil }
    return String(parts[1])
  }
}
