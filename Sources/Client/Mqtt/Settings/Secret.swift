import Settings

/// Reads files that only their owner may read.
enum Secret {
  /// MQTT limits a password to 65,535 bytes, which is far more than a person uses.
  private static let maximumSize = 4096
  /// HMAC-SHA256 gains nothing from a longer key than its block, but a shorter one weakens it (RFC 2104, section 3).
  static let minimumKeySize = 32

  /// The password in `path`, without the end of its line.
  static func password(_ path: String) throws(KeyFileError) -> String {
    try password(bytes(path, of: "PasswordFile="), path)
  }

  /// The password that systemd passes; nil if it passes none. systemd keeps other users out of the directory.
  static func credential(_ path: String) throws(KeyFileError) -> String? {
    guard let file = try read(path) else { return nil }
    return try password(file.bytes, path)
  }

  /// The key in `path`, all of its bytes.
  static func key(_ path: String) throws(KeyFileError) -> [UInt8] {
    let key = try bytes(path, of: "IdKeyFile=")
    guard key.count >= minimumKeySize else {
      throw KeyFileError(
        file: path, line: nil, problem: "has \(key.count) bytes, and a key needs at least \(minimumKeySize)",
        remedy: "make one with: head -c 32 /dev/urandom > \(path)")
    }
    return key
  }

  private static func bytes(_ path: String, of key: String) throws(KeyFileError) -> [UInt8] {
    guard let (bytes, attributes) = try read(path) else {
      throw KeyFileError(file: path, line: nil, problem: "does not exist", remedy: "make it, or correct \(key)")
    }
    try FileTrust.check(attributes, path, readers: .owner)
    return bytes
  }

  private typealias Contents = (bytes: [UInt8], attributes: FileContents.Attributes)

  private static func read(_ path: String) throws(KeyFileError) -> Contents? {
    let file: Contents?
    do throws(FileContents.Failure) {
      file = try FileContents.readWithAttributes(path, upTo: maximumSize)
    } catch {
      switch error {
      case .notAFile: throw KeyFileError(file: path, line: nil, problem: "is not a file", remedy: "name a file")
      case .unreadable(let reason):
        throw KeyFileError(
          file: path, line: nil, problem: "cannot be read (\(reason))",
          remedy: "give it to the user who runs tagroute-mqtt")
      }
    }
    guard let file else { return nil }
    guard file.bytes.count <= maximumSize else {
      throw KeyFileError(
        file: path, line: nil, problem: "is larger than \(maximumSize) bytes", remedy: "correct the name of the file")
    }
    return file
  }

  private static func password(_ bytes: [UInt8], _ path: String) throws(KeyFileError) -> String {
    var bytes = bytes
    if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
    if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
    guard !bytes.isEmpty, !bytes.contains(0), let password = String(validating: bytes, as: UTF8.self) else {
      throw KeyFileError(
        file: path, line: nil, problem: "has no password in UTF-8", remedy: "write the password on the only line")
    }
    return password
  }
}
