import EventLoop
import Glibc
import Names
import ReaderProtocol

/// The known tags of each reader, by its connection string. They survive a restart of the daemon.
///
/// The file is in the service's runtime directory. It survives a restart of the service, and systemd removes it when
/// the daemon is stopped (`RuntimeDirectoryPreserve=restart`, systemd.exec(5)). The file contains keyed hashes of UIDs
/// and the key. Each new file has a new key.
///
///     tagroute known tags 1
///     key 0123456789abcdef 0123456789abcdef
///     reader pn532_uart:/dev/ttyUSB0
///     first
///     tag 0123456789abcdef type-2 --
struct KnownTagFile {
  /// The limit of readers in the file. A reader that is plugged in again under another number is a new one.
  static let mostReaders = 32
  private static let heading = "tagroute known tags 1"
  private static let mostBytes = 64 * 1024

  private let path: String?
  private var key = TagFingerprint.Key.random()
  private var lists: [String: KnownTags] = [:]

  /// Without a folder, the tags are kept in memory only.
  init(folder: String?) { path = folder.map { "\($0)/known-tags" } }

  /// In the directory that systemd names.
  static func standard() -> KnownTagFile {
    // Colons separate several directories.
    let folders = ProcessEnvironment.current["RUNTIME_DIRECTORY"]?.split(separator: ":")
    return KnownTagFile(folder: folders?.first.map(String.init))
  }

  func known(on reader: String) -> KnownTags { lists[reader] ?? KnownTags(key: key) }

  /// False if the file of the previous daemon exists and has another format.
  mutating func load() throws(SystemError) -> Bool {
    guard let path else { return true }
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else {
      if errno == ENOENT { return true }
      throw SystemError("read \(path)")
    }
    let file = FileDescriptor(owning: descriptor)
    var bytes = [UInt8](repeating: 0, count: Self.mostBytes)
    let count = read(file.rawValue, &bytes, bytes.count)
    guard count >= 0 else { throw SystemError("read \(path)") }
    guard let (key, lists) = Self.parse(String(decoding: bytes.prefix(count), as: UTF8.self)) else { return false }
    (self.key, self.lists) = (key, lists)
    return true
  }

  /// If the file cannot be written, this daemon uses the tags nevertheless.
  mutating func keep(_ known: KnownTags, on reader: String) throws(SystemError) {
    lists[reader] = known.tags.isEmpty && !known.includesFirst ? nil : known
    while lists.count > Self.mostReaders, let other = lists.keys.first(where: { $0 != reader }) { lists[other] = nil }
    if let path { try FileDescriptor.replace(path, with: Array(text.utf8)) }
  }

  private var text: String {
    var lines = [Self.heading, "key \(String(key.low, radix: 16)) \(String(key.high, radix: 16))"]
    for (reader, known) in lists.sorted(by: { $0.key < $1.key }) where !reader.contains("\n") {
      lines.append("reader \(reader)")
      if known.includesFirst { lines.append("first") }
      for tag in known.tags {
        let flags = (tag.mayHaveChanged ? "c" : "-") + (tag.isSuspect ? "s" : "-")
        lines.append("tag \(String(tag.fingerprint.value, radix: 16)) \(tag.technology) \(flags)")
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func parse(_ text: String) -> (TagFingerprint.Key, [String: KnownTags])? {
    var lines = text.split(separator: "\n")[...]
    guard lines.popFirst() == heading[...], let words = lines.popFirst()?.split(separator: " "), words.count == 3,
      words[0] == "key", let low = UInt64(words[1], radix: 16), let high = UInt64(words[2], radix: 16)
    else { return nil }
    let key = TagFingerprint.Key(low: low, high: high)
    var lists: [String: KnownTags] = [:]
    var reader: String?
    for line in lines {
      if line.hasPrefix("reader ") {
        reader = String(line.dropFirst("reader ".count))
        continue
      }
      guard let reader else { return nil }
      if line == "first" {
        lists[reader, default: KnownTags(key: key)].includesFirst = true
        continue
      }
      let words = line.split(separator: " ")
      guard words.count == 4, words[0] == "tag", let value = UInt64(words[1], radix: 16), words[3].utf8.count == 2
      else { return nil }
      // A newer daemon may have known more kinds of tags.
      guard let technology = TagType(rawValue: String(words[2])) else { continue }
      lists[reader, default: KnownTags(key: key)].tags.append(
        KnownTag(
          number: 0, fingerprint: TagFingerprint(value: value), technology: technology,
          mayHaveChanged: words[3].hasPrefix("c"), isSuspect: words[3].hasSuffix("s")))
    }
    return (key, lists)
  }
}
