import Glibc
import Settings

/// Judges the files that say where taps go, and who this station is. Whoever can change one of them could send the taps
/// elsewhere.
enum FileTrust {
  /// Who may read a file.
  enum Readers {
    case anyone
    /// Its owner alone.
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
