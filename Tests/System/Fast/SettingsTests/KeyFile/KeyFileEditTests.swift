import Glibc
import Settings
import Testing

/// Changes a file that other programs write too.
@Suite struct KeyFileEditTests {
  private let path = "/tmp/tagroute-key-file-edit-\(getpid())-\(UInt64.random(in: 0...UInt64.max))"

  private func value(_ group: String, _ key: String) throws -> String? { try KeyFile.load(path)?.string(group, key) }

  @Test func `any value that is written is read back unchanged`() throws {
    defer { unlink(path) }
    let texts = ["", " a ", "a;b\\;c", "line\nline\ttab", "日本語=x", #"sh -c "a \\"b\\"" %u"#]
    for text in texts {
      try KeyFile.edit(path, [.set(group: "g h.i", key: "Key", to: text)], mode: 0o600)
      #expect(try value("g h.i", "Key") == text)
      try KeyFile.edit(path, [.setList(group: "g h.i", key: "List[a.b]", to: texts)], mode: 0o600)
      #expect(try KeyFile.load(path)?.strings("g h.i", "List[a.b]") == texts)
    }
    try KeyFile.edit(path, [.remove(group: "g h.i", key: "List[a.b]"), .removeGroup("none")], mode: 0o600)
    #expect(try KeyFile.load(path)?.group("g h.i")?.entries.map(\.key) == ["Key"])
    try KeyFile.edit(path, [.removeGroup("g h.i")], mode: 0o600)
    #expect(try KeyFile.load(path)?.groups.isEmpty == true)
  }

  @Test(arguments: [
    ("", "Key"), ("a]b", "Key"), ("a\nb", "Key"), ("g", ""), ("g", "a=b"), ("g", "#a"), ("g", "a[*.b]"), ("g", "a[b"),
    ("g", " a"), ("g", "a\n"),
  ])
  func `a name that cannot be read back is rejected, and the file stays unchanged`(group: String, key: String) throws {
    defer { unlink(path) }
    try KeyFile.edit(path, [.set(group: "g", key: "kept", to: "1")], mode: 0o600)
    #expect(throws: KeyFileError.self) {
      try KeyFile.edit(path, [.remove(group: "g", key: "kept"), .set(group: group, key: key, to: "x")], mode: 0o600)
    }
    #expect(try value("g", "kept") == "1")
  }

  @Test func `removing or setting a key applies to all of its duplicates`() throws {
    defer { unlink(path) }
    #expect(write("[g]\na=1\nb=1\na=2\n[h]\na=1\n[g]\na=3\nb=2\n"))
    try KeyFile.edit(path, [.remove(group: "g", key: "a"), .set(group: "g", key: "b", to: "3")], mode: 0o600)
    #expect(try value("g", "a") == nil)
    #expect(try value("g", "b") == "3" && value("h", "a") == "1")
    #expect(write("[g]\n" + String(repeating: "a=1\n", count: 500)))
    #expect(throws: KeyFileError.self) { try KeyFile.edit(path, [.remove(group: "g", key: "a")], mode: 0o600) }
    #expect(try value("g", "a") == "1")
  }

  private func write(_ text: String) -> Bool {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    defer { close(descriptor) }
    return Glibc.write(descriptor, text, text.utf8.count) == text.utf8.count
  }

  @Test func `a file that is too large is read only up to one byte above the limit`() throws {
    defer { unlink(path) }
    #expect(write("[g]\n") && truncate(path, 1 << 26) == 0)
    #expect(try KeyFile.contents(of: path)?.count == KeyFile.maximumSize + 1)
    #expect(throws: KeyFileError.self) { try KeyFile.load(path) }
  }

  @Test func `a failed edit leaves the file unchanged`() throws {
    defer { unlink(path) }
    try KeyFile.edit(path, [.set(group: "g", key: "kept", to: "1")], mode: 0o600)
    let large = String(repeating: "x", count: KeyFile.maximumSize)
    #expect(throws: KeyFileError.self) { try KeyFile.edit(path, [.set(group: "g", key: "a", to: large)], mode: 0o600) }
    #expect(try value("g", "kept") == "1")
    #expect(throws: KeyFileError.self) { try KeyFile.edit("/proc/none/a", [.removeGroup("g")], mode: 0o600) }
  }
}
