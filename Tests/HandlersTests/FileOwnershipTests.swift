import Glibc
import TestSupport
import Testing

@testable import Handlers

/// What the file system says of who can change a file.
@Suite struct FileOwnershipTests {
  private func isRootsAlone(_ path: String) -> Bool { FileOwnership.real.isRootsAlone(path) }

  @Test("what the system installs is root's alone, by whatever links")
  func system() {
    for path in ["/", "/usr/bin/env", "//usr/./lib/../bin//env", "/bin/env"] { #expect(isRootsAlone(path), "\(path)") }
    #expect(!isRootsAlone("/usr/bin/not-there"))
  }

  @Test("what lies behind a directory or a link that others can change is not, whatever it is")
  func others() throws {
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

  @Test(.enabled(if: getuid() == 0, "only root can make files of root's"))
  func ownerAndMode() throws {
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
    // Nobody takes what is root's out of a directory with the sticky bit.
    #expect(chown(folder.path, 0, 0) == 0 && chmod(folder.path, 0o1777) == 0)
    #expect(isRootsAlone(file))
  }
}
