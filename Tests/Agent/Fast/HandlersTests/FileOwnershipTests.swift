import Glibc
import Rig
import Testing

@testable import Handlers

/// Who can change a file, according to the file system.
@Suite struct FileOwnershipTests {
  private func isRootsAlone(_ path: String) -> Bool { FileOwnership.real.isRootsAlone(path) }

  @Test func `files that the system installs belong to root alone, also through links`() {
    for path in ["/", "/usr/bin/env", "//usr/./lib/../bin//env", "/bin/env"] { #expect(isRootsAlone(path), "\(path)") }
    #expect(!isRootsAlone("/usr/bin/not-there"))
  }

  @Test func `a path through a directory or link that others can change does not belong to root alone`() throws {
    let folder = try TemporaryDirectory()
    #expect(chmod(folder.path, 0o777) == 0)
    let file = try folder.write("", to: "shut/a.desktop")
    #expect(chmod(folder.file("shut"), 0o755) == 0)
    #expect(!isRootsAlone(file))
    #expect(symlink("/usr/bin/env", folder.file("link")) == 0)
    #expect(!isRootsAlone(folder.file("link")))
    #expect(symlink("link", folder.file("loop")) == 0 && symlink("around", folder.file("around")) == 0)
    #expect(!isRootsAlone(folder.file("loop")) && !isRootsAlone(folder.file("around")))
  }

  @Test(.enabled(if: getuid() == 0, "only root can create files that root owns"))
  func `owner, permissions and sticky bit decide whether a file belongs to root alone`() throws {
    let folder = try TemporaryDirectory()
    #expect(chmod(folder.path, 0o755) == 0)
    let file = try folder.write("", to: "a.desktop")
    #expect(chmod(file, 0o644) == 0)
    #expect(isRootsAlone(file))
    #expect(chmod(file, 0o646) == 0)
    #expect(!isRootsAlone(file))
    #expect(chmod(file, 0o644) == 0 && chown(file, 65_534, 0) == 0)
    #expect(!isRootsAlone(file))
    #expect(chown(file, 0, 0) == 0 && chown(folder.path, 65_534, 0) == 0)
    #expect(!isRootsAlone(file))
    // In a directory with the sticky bit, other users cannot remove a file that root owns.
    #expect(chown(folder.path, 0, 0) == 0 && chmod(folder.path, 0o1777) == 0)
    #expect(isRootsAlone(file))
  }
}
