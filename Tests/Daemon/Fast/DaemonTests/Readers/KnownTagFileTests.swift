import EventLoop
import Glibc
import Names
import ReaderProtocol
import Rig
import Testing

@testable import Daemon

@Suite struct KnownTagFileTests {
  private let directory: TemporaryDirectory
  private static let reader = "pn532_uart:/dev/tty USB0"

  init() throws { directory = try TemporaryDirectory() }

  private var file: KnownTagFile { KnownTagFile(folder: directory.file(".")) }

  private func list(_ file: KnownTagFile, includesFirst: Bool = false) -> KnownTags {
    var known = file.known(on: Self.reader)
    known.includesFirst = includesFirst
    for (number, technology) in zip(0..., [TagType.type2, .type4B]) {
      known.tags.append(
        KnownTag(
          number: 0, fingerprint: TagFingerprint(technology, [8, 1, 2, 3], known.key), technology: technology,
          mayHaveChanged: number == 1, isSuspect: number == 0))
    }
    return known
  }

  @Test(arguments: [false, true]) func `the next daemon loads the known tags of this one`(includesFirst: Bool) throws {
    var first = file
    #expect(try first.load())
    let known = list(first, includesFirst: includesFirst)
    try first.keep(known, on: Self.reader)
    var next = file
    #expect(try next.load())
    #expect(next.known(on: Self.reader) == known)
    #expect(next.known(on: "another") == KnownTags(key: known.key))
    // A list without tags removes the reader from the file.
    try next.keep(KnownTags(key: known.key), on: Self.reader)
    #expect(try next.load())
    #expect(next.known(on: Self.reader) == KnownTags(key: known.key))
  }

  @Test func `only the owner can read the file, and it contains no UID`() throws {
    var file = file
    try file.keep(list(file), on: Self.reader)
    let path = directory.file("known-tags")
    var information = stat()
    #expect(stat(path, &information) == 0)
    #expect(information.st_mode & 0o777 == 0o600)
    let text = String(decoding: try readFile(path), as: UTF8.self)
    #expect(!text.contains("8123") && !text.contains("08010203"))
  }

  @Test(arguments: [
    "", "tagroute known tags 2\nkey 1 2\n", "tagroute known tags 1\n", "tagroute known tags 1\nkey 1\n",
    "tagroute known tags 1\nkey 1 2\ntag 1 type-2 --\n", "tagroute known tags 1\nkey 1 2\nreader a\ntag x type-2 --\n",
    "tagroute known tags 1\nkey 1 2\nreader a\ntag 1 type-2\n",
  ]) func `a broken file is ignored`(text: String) throws {
    try directory.write(text, to: "known-tags")
    var file = file
    #expect(try !file.load())
    #expect(file.known(on: "a").tags.isEmpty)
  }

  @Test func `without a folder the daemon keeps the known tags until it ends`() throws {
    var file = KnownTagFile(folder: nil)
    #expect(try file.load())
    let known = list(file)
    try file.keep(known, on: Self.reader)
    #expect(file.known(on: Self.reader) == known)
    var broken = KnownTagFile(folder: "/nonexistent")
    #expect(try broken.load())
    #expect(throws: SystemError.self) { try broken.keep(known, on: Self.reader) }
    #expect(broken.known(on: Self.reader) == known)
  }

  @Test func `readers that come and go do not fill the file`() throws {
    var file = file
    for number in 0..<100 { try file.keep(list(file), on: "acr122_usb:001:\(number)") }
    let text = String(decoding: try readFile(directory.file("known-tags")), as: UTF8.self)
    #expect(text.split(separator: "\n").count { $0.hasPrefix("reader ") } == KnownTagFile.mostReaders)
  }
}
