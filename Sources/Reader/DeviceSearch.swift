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

  func candidate(_ context: OpaquePointer) -> Result<String, Obstacle> {
    guard let configured else {
      guard let first = Device.list(context).first else {
        return .failure(Obstacle(state: .absent(reason: "libnfc finds no reader")))
      }
      return .success(first)
    }
    // Asked of the file system first: libnfc says only that it could not.
    guard let path = Self.path(of: configured) else { return .success(configured) }
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
