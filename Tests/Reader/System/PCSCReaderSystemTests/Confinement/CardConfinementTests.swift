import Daemon
import Glibc
import Journal
import Names
import ReaderProtocol
import TestKit
import Testing

@testable import ReaderSimulator

/// The privileges of a running process, as the kernel reports them.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct CardConfinementTests {
  private func lines(_ path: String) throws -> [String] {
    String(decoding: try readFile(path), as: UTF8.self).split(separator: "\n").map(String.init)
  }

  private func status(_ rig: CardReaderRig) async throws -> [String] {
    try lines("/proc/\(try #require(await rig.process.processID))/status")
  }

  @Test func `a process with a reader is confined, and so is each that follows it`() async throws {
    let rig = try await CardReaderRig.scanning()
    let (id, _) = try await rig.announces("https://example.com")
    for _ in 1...2 {
      let status = try await status(rig)
      #expect(status.contains("NoNewPrivs:\t1"))
      #expect(status.contains("Seccomp:\t2"))
      await rig.pcscd.kill()
      _ = try await rig.failed()
      try await rig.restartPCSCD()
      try await rig.expect(.scanning(true))
      try await rig.announcesNothing()
    }
    await rig.remove(id)
    // Every restriction is in force, unless the kernel lacks it.
    #expect(rig.logged.contains { $0.hasPrefix("confined: ") && $0.contains("system calls") })
    for case .log(.notice, let line) in rig.seen where line.hasPrefix("some restrictions") {
      #expect(!hasLandlock || !line.contains("Landlock"), "\(line)")
    }
  }

  /// The process of a reader cannot be read or traced by other processes of its user.
  @Test func `the process leaves no core dump and cannot be read`() async throws {
    let rig = try await CardReaderRig.scanning()
    let child = try #require(await rig.process.processID)
    let cores = try #require(try lines("/proc/\(child)/limits").first { $0.hasPrefix("Max core file size") })
    #expect(cores.split(separator: " ").suffix(3) == ["0", "0", "bytes"])
    var information = stat()
    #expect(stat("/proc/\(child)/environ", &information) == 0)
    #expect(information.st_uid == 0, "the process can be dumped")
  }

  /// The daemon's link, and one connection to pcscd for each of the two threads.
  @Test(.enabled(if: geteuid() == 0, "needs root: the process cannot be read by its own user"))
  func `the process has no open socket and no open file that it does not need`() async throws {
    let rig = try await CardReaderRig.scanning(.acr1552U)
    try await rig.announces("https://example.com")
    let child = try #require(await rig.process.processID)
    let folder = "/proc/\(child)/fd"
    // Standard error is that of the test.
    let names = try #require(fileNames(in: folder)).filter { $0 != "2" }
    let targets = names.compactMap { target(of: "\(folder)/\($0)") }
    #expect(targets.count { $0.hasPrefix("socket:") } == 3, "\(targets)")
    let others = targets.filter { !$0.hasPrefix("socket:") && !$0.hasPrefix("pipe:") }
    #expect(others.allSatisfy { ["/dev/null", "anon_inode:inotify"].contains($0) }, "\(others)")
  }

  private func target(of path: String) -> String? {
    var bytes = [CChar](repeating: 0, count: 1024)
    let count = readlink(path, &bytes, bytes.count)
    return count > 0 ? String(decoding: bytes.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
  }
}
