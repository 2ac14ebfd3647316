import Glibc
import Settings
import Testing

struct FileContentsTests {
  @Test func `a directory listing omits hidden names and names that are not UTF-8`() throws {
    var template = Array("/tmp/tagroute-test-XXXXXX".utf8CString)
    try #require(mkdtemp(&template) != nil)
    let folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    let names = ["b", "ä", ".hidden", "a.desktop"].map { Array("\(folder)/\($0)".utf8) }
    let files = names + [Array("\(folder)/".utf8) + [0xFF]]
    defer {
      for file in files { unlink(file.map(CChar.init(bitPattern:)) + [0]) }
      rmdir(folder)
    }
    for file in files { close(open(file.map(CChar.init(bitPattern:)) + [0], O_CREAT | O_WRONLY, 0o600)) }
    #expect(FileContents.names(inDirectory: folder, atMost: 10)?.sorted() == ["a.desktop", "b", "ä"])
    #expect(FileContents.names(inDirectory: "\(folder)/b", atMost: 10) == nil)
    #expect(FileContents.names(inDirectory: "\(folder)/nothing", atMost: 10) == nil)
    #expect(FileContents.names(inDirectory: folder, atMost: 3)?.count == 3)
    #expect(FileContents.names(inDirectory: folder, atMost: 1)?.count == 2)
  }
}
