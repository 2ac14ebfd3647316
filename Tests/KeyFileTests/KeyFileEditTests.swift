import Glibc
import KeyFile
import Testing

/// Changing a file that others write, too.
@Suite struct KeyFileEditTests {
  private let path = "/tmp/tagroute-key-file-edit-\(getpid())-\(UInt64.random(in: 0...UInt64.max))"

  private func value(_ group: String, _ key: String) throws -> String? { try KeyFile.load(path)?.string(group, key) }

  @Test func `what is written is what is read, whatever it holds`() throws {
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
  func `a name that no reader would find again is refused, and nothing is written`(group: String, key: String) throws {
    defer { unlink(path) }
    try KeyFile.edit(path, [.set(group: "g", key: "kept", to: "1")], mode: 0o600)
    #expect(throws: KeyFileError.self) {
      try KeyFile.edit(
        path, [.remove(group: "g", key: "kept"), .set(group: group, key: key, to: "x")], mode: 0o600)
    }
    #expect(try value("g", "kept") == "1")
  }

  @Test func `a file that would be too large, or that cannot be written, stays as it is`() throws {
    defer { unlink(path) }
    try KeyFile.edit(path, [.set(group: "g", key: "kept", to: "1")], mode: 0o600)
    let large = String(repeating: "x", count: KeyFile.maximumSize)
    #expect(throws: KeyFileError.self) { try KeyFile.edit(path, [.set(group: "g", key: "a", to: large)], mode: 0o600) }
    #expect(try value("g", "kept") == "1")
    #expect(throws: KeyFileError.self) { try KeyFile.edit("/proc/none/a", [.removeGroup("g")], mode: 0o600) }
  }
}
