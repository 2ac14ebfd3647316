import Glibc
import Rig
import Testing

@testable import EventLoop

@Suite struct FileReplacementTests {
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private var names: [String] { fileNames(in: directory.path) ?? [] }

  @Test func `a file is replaced as a whole, with its mode, and no other file is left`() throws {
    let path = directory.file("state")
    try FileDescriptor.replace(path, with: Array("the first, longer text".utf8))
    try FileDescriptor.replace(path, with: Array("second".utf8), mode: 0o640)
    #expect(try readFile(path) == Array("second".utf8))
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode & 0o7777 == 0o640)
    #expect(names == ["state"])
  }

  @Test func `a symbolic link is replaced and not followed`() throws {
    let target = try directory.write("kept", to: "target")
    let path = directory.file("link")
    try #require(symlink(target, path) == 0)
    try FileDescriptor.replace(path, with: Array("new".utf8))
    #expect(try readFile(target) == Array("kept".utf8))
    #expect(try readFile(path) == Array("new".utf8))
  }

  @Test func `a failure names the file and leaves no temporary file`() throws {
    let path = directory.file("folder")
    try #require(mkdir(path, 0o700) == 0)
    let error = #expect(throws: SystemError.self) { try FileDescriptor.replace(path, with: [1]) }
    #expect(error?.description.contains(path) == true)
    #expect(names == ["folder"])
  }
}
