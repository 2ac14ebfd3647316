import Glibc
import Settings

/// Judges the files that set the destination of taps and the name of this station. Another user with write access to
/// one of them could send the taps elsewhere.
enum FileTrust {
  /// Who may read a file.
  enum Readers {
    case anyone
    case owner
    /// Its owner, and the group that root has given the file to, as Debian's `ssl-cert`.
    case ownerOrRootsGroup
  }

  /// Refuses a file that a third user can change, or read against its purpose. Root can do both anyway.
  static func check(
    _ attributes: FileContents.Attributes, _ path: String, readers: Readers = .anyone
  ) throws(KeyFileError) {
    guard attributes.owner == 0 || attributes.owner == geteuid() else {
      throw KeyFileError(
        file: path, line: nil, problem: "belongs to another user, who can change it", remedy: "use a copy of your own")
    }
    let isForOwner = readers == .owner || readers == .ownerOrRootsGroup && attributes.owner != 0
    guard !attributes.isWritableByOthers, !isForOwner || !attributes.isReadableByOthers else {
      throw KeyFileError(
        file: path, line: nil,
        problem: isForOwner ? "other users can read or change it" : "other users can change it",
        remedy: isForOwner ? "chmod 600 \(path)" : "chmod go-w \(path)")
    }
  }

  /// The same for a file that a library reads. `key` names it in the configuration.
  static func check(_ path: String, of key: String, readers: Readers = .anyone) throws(KeyFileError) {
    let attributes: FileContents.Attributes
    do throws(FileContents.Failure) {
      guard let file = try FileContents.readWithAttributes(path, upTo: 0) else {
        throw FileContents.Failure.unreadable(String(cString: strerror(ENOENT)))
      }
      attributes = file.attributes
    } catch {
      let reason = if case .unreadable(let reason) = error { reason } else { "it is no file" }
      throw KeyFileError(
        file: path, line: nil, problem: "cannot be read (\(reason))", remedy: "make it readable, or correct \(key)")
    }
    try check(attributes, path, readers: readers)
  }
}

/// Reads files that only their owner may read.
enum Secret {
  /// MQTT limits a password to 65,535 bytes, which is far more than a person uses.
  private static let maximumSize = 4096
  /// A key shorter than the hash weakens HMAC-SHA256, and a longer one adds little (RFC 2104, section 3).
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
