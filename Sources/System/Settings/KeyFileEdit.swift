import CGIO
import Glibc

package enum KeyFileEdit: Sendable, Hashable {
  /// Creates the group and the key if they are missing.
  case set(group: String, key: String, to: String)
  /// Creates the group and the key if they are missing.
  case setList(group: String, key: String, to: [String])
  case remove(group: String, key: String)
  /// Removes its entries too.
  case removeGroup(String)
}

extension KeyFile {
  /// Changes a file completely or not at all. Keeps everything that the edits do not name: groups, keys, comments and
  /// their order. Blocks on file access.
  ///
  /// A missing file is created, with the folders above it; if the path is a link, its target is changed. A new file
  /// gets the permissions `mode`, before the umask; an existing one keeps its own. Throws if the file is not a key file
  /// or cannot be written. It is unchanged then.
  package static func edit(_ path: String, _ edits: [KeyFileEdit], mode: UInt32) throws(KeyFileError) {
    try edit(path, mode: mode) { _ in edits }
  }

  /// The edits depend on the file's current contents.
  package static func edit(
    _ path: String, mode: UInt32, _ edits: (KeyFile) -> [KeyFileEdit]
  ) throws(KeyFileError) {
    let bytes = try contents(of: path) ?? []
    // Parse the file first, to report the line of a mistake: a file that cannot be read completely is not written.
    let edits = edits(try KeyFile(bytes: bytes, file: path))
    for edit in edits {
      guard edit.canBeWritten else { throw edit.mistake(in: path) }
    }
    var result = try edited(bytes, edits, path)
    // If a key is repeated, GLib removes only its last line and then does not find the others. The next reading would
    // use them, so repeat the removal.
    var removals = edits.filter { if case .remove = $0 { true } else { false } }
    for _ in 0..<maximumRepetitions where !removals.isEmpty {
      let file = try KeyFile(bytes: result, file: path)
      removals = removals.filter { removal in
        guard case .remove(let group, let key) = removal else { return false }
        return file.entry(group, key) != nil
      }
      if !removals.isEmpty { result = try edited(result, removals, path) }
    }
    guard removals.isEmpty else {
      throw KeyFileError(
        file: path, line: nil, problem: "has a key more than \(maximumRepetitions) times", remedy: "remove all but one")
    }
    try write(result, to: path, mode: mode)
  }

  private static let maximumRepetitions = 20

  private static func edited(
    _ bytes: [UInt8], _ edits: [KeyFileEdit], _ path: String
  ) throws(KeyFileError) -> [UInt8] {
    let file = g_key_file_new()
    defer { g_key_file_free(file) }
    guard let file else { return bytes }
    let flags = GKeyFileFlags(rawValue: G_KEY_FILE_KEEP_COMMENTS.rawValue | G_KEY_FILE_KEEP_TRANSLATIONS.rawValue)
    let isKeyFile = bytes.withUnsafeBytes { bytes in
      bytes.isEmpty
        || g_key_file_load_from_data(
          file, bytes.assumingMemoryBound(to: CChar.self).baseAddress, gsize(bytes.count), flags, nil) != 0
    }
    guard isKeyFile else { throw KeyFileError(file: path, line: nil, problem: "is no key file", remedy: "fix it") }
    for edit in edits {
      switch edit {
      case .set(let group, let key, let text): g_key_file_set_string(file, group, key, text)
      case .setList(let group, let key, let texts):
        let copies = texts.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        let pointers = copies.map { $0.map { UnsafePointer($0) } }
        g_key_file_set_string_list(file, group, key, pointers, gsize(pointers.count))
      case .remove(let group, let key): g_key_file_remove_key(file, group, key, nil)
      case .removeGroup(let group): g_key_file_remove_group(file, group, nil)
      }
    }
    var length: gsize = 0
    guard let data = g_key_file_to_data(file, &length, nil) else { return bytes }
    defer { g_free(data) }
    guard length <= KeyFile.maximumSize else {
      throw KeyFileError(file: path, line: nil, problem: "would be larger than 1 MiB", remedy: "remove what is old")
    }
    return Array(UnsafeRawBufferPointer(start: data, count: Int(length)))
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
    case .set(let group, let key, let text): Self.isGroup(group) && Self.isKey(key) && !text.contains("\0")
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
