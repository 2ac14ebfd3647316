import CGIO
import Glibc

package enum KeyFileEdit: Sendable, Hashable {
  /// Creates the group and the key if they are missing.
  case set(group: String, key: String, to: String)
  /// Creates the group and the key if they are missing.
  case setList(group: String, key: String, to: [String])
  /// Puts a comment with the default in the place of the key, as the shipped files have it. If the group has such a
  /// comment, only removes the key.
  case reset(group: String, key: String, to: String)
  case remove(group: String, key: String)
  /// Removes its entries too.
  case removeGroup(String)
}

extension KeyFile {
  /// Changes a file completely or not at all. Keeps everything that the edits do not name: groups, keys, comments and
  /// their order. Blocks on file access.
  ///
  /// A missing file is created, with the folders above it; if the path is a link, its target is changed. A new file
  /// gets the permissions `mode`, before the umask; an existing one keeps its own. Throws if the file is not a key file,
  /// would not pass the `check`, or cannot be written. It is unchanged then.
  package static func edit(
    _ path: String, _ edits: [KeyFileEdit], mode: UInt32,
    check: (KeyFile) throws(KeyFileError) -> Void = { _ in }
  ) throws(KeyFileError) {
    try edit(path, mode: mode, check: check) { _ in edits }
  }

  /// The edits depend on the file's current contents.
  package static func edit(
    _ path: String, mode: UInt32, check: (KeyFile) throws(KeyFileError) -> Void = { _ in },
    _ edits: (KeyFile) -> [KeyFileEdit]
  ) throws(KeyFileError) {
    let bytes = try contents(of: path) ?? []
    // Parse the file first, to report the line of a mistake: a file that cannot be read completely is not written.
    let present = try KeyFile(bytes: bytes, file: path)
    var lines = KeyFileLines(bytes)
    for edit in edits(present) {
      guard edit.canBeWritten else { throw edit.mistake(in: path) }
      lines.apply(edit)
    }
    let result = lines.bytes
    do throws(KeyFileError) {
      try check(try KeyFile(bytes: result, file: path))
    } catch {
      // A mistake that was there before has another line in the result.
      try check(present)
      throw error
    }
    if result != bytes { try write(result, to: path, mode: mode) }
  }

  private static func write(_ bytes: [UInt8], to path: String, mode: UInt32) throws(KeyFileError) {
    var target = path
    if let real = realpath(path, nil) {
      target = String(cString: real)
      free(real)
    } else if let slash = path.lastIndex(of: "/") {
      g_mkdir_with_parents(String(path[..<slash]), 0o700)
    }
    var information = stat()
    let mode = stat(target, &information) == 0 ? information.st_mode & 0o777 : mode
    var error: UnsafeMutablePointer<GError>?
    let flags = GFileSetContentsFlags(
      rawValue: G_FILE_SET_CONTENTS_CONSISTENT.rawValue | G_FILE_SET_CONTENTS_DURABLE.rawValue)
    let isWritten = bytes.withUnsafeBytes { bytes in
      g_file_set_contents_full(
        target, bytes.assumingMemoryBound(to: CChar.self).baseAddress, gssize(bytes.count), flags, Int32(mode), &error)
    }
    guard isWritten == 0 else { return }
    throw KeyFileError(
      file: path, line: nil, problem: "cannot be written (\(consume(error) { text($0?.message) }))",
      remedy: "make it writable")
  }
}

extension KeyFileEdit {
  package func mistake(in path: String) -> KeyFileError {
    KeyFileError(file: path, line: nil, problem: "cannot hold \(self)", remedy: "use plain names")
  }

  /// Whether a reader would find the written entry.
  package var canBeWritten: Bool {
    switch self {
    case .set(let group, let key, let text), .reset(let group, let key, let text):
      Self.isGroup(group) && Self.isKey(key) && !text.contains("\0")
    case .setList(let group, let key, let texts):
      Self.isGroup(group) && Self.isKey(key) && texts.allSatisfy { !$0.contains("\0") }
    case .remove, .removeGroup: true
    }
  }

  private static func isGroup(_ name: String) -> Bool {
    !name.isEmpty && name.unicodeScalars.allSatisfy { $0 != "[" && $0 != "]" && $0.value >= 0x20 && $0.value != 0x7F }
  }

  /// In the brackets, GLib accepts the characters of a locale.
  private static func isKey(_ name: String) -> Bool {
    let parts = name.split(separator: "[", maxSplits: 1, omittingEmptySubsequences: false)
    guard let key = parts.first, !key.isEmpty, key.first != " ", key.last != " ",
      key.unicodeScalars.allSatisfy({ $0 != "=" && $0 != "]" && $0 != "#" && $0.value >= 0x20 && $0.value != 0x7F })
    else { return false }
    guard parts.count == 2, let locale = parts.last else { return true }
    return locale.last == "]" && locale.count > 1
      && locale.dropLast().allSatisfy { $0.isLetter || $0.isNumber || "-_.@".contains($0) }
  }
}
