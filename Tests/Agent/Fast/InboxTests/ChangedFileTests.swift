import Glibc
import Rig
import Testing

@testable import Inbox

/// Another program deletes, replaces or overwrites the inbox's files while they are in use.
struct ChangedFileTests {
  private let temporary: TemporaryDirectory
  private let reports = Reports()
  private var directory: String { temporary.path + "/state" }
  private var path: String { directory + "/inbox.sqlite" }
  private var aside: String { "\(path).damaged-\(sampleTime.microseconds)" }

  init() throws { temporary = try TemporaryDirectory() }

  private func inbox() -> Inbox {
    Inbox(
      .file(directory: directory, name: "inbox.sqlite"), retention: Retention(), now: { sampleTime },
      report: reports.report)
  }

  /// An inbox with a finished tap and a waiting one.
  private func filled() async throws -> Inbox {
    let inbox = inbox()
    _ = await inbox.receive(sampleTap("over"))
    try await inbox.move("over", to: .dismissed)
    _ = await inbox.receive(sampleTap("waits"))
    return inbox
  }

  /// The taps in the file after the process ended.
  private func kept(after inbox: Inbox) async throws -> [String] {
    await inbox.close()
    return try await self.inbox().list().map(\.id)
  }

  @Test(arguments: [["", "-wal", "-shm"], [""], ["-wal"]])
  func `the next tap detects a deleted inbox, and waiting taps are saved in a new file`(suffixes: [String]) async throws
  {
    let inbox = try await filled()
    for suffix in suffixes { try #require(unlink(path + suffix) == 0) }
    _ = await inbox.receive(sampleTap("new"))
    #expect(reports.all.count == 1)
    #expect(reports.all.first?.contains("was deleted while it was in use") == suffixes.contains(""))
    _ = await inbox.receive(sampleTap("newer"))
    #expect(try await kept(after: inbox) == ["newer", "new", "waits"])
    #expect(reports.all.count == 1)
  }

  @Test func `the next tap detects an inbox that was deleted during a write`() async throws {
    let inbox = try await filled()
    await inbox.duringUse { [path] in _ = unlink(path) }
    #expect(reports.all.isEmpty)
    _ = await inbox.receive(sampleTap("new"))
    #expect(reports.all.count == 1)
    #expect(try await kept(after: inbox) == ["new", "waits"])
  }

  @Test func `a deleted directory is created again`() async throws {
    let inbox = try await filled()
    try #require(rename(directory, temporary.path + "/gone") == 0)
    try await inbox.move("waits", to: .shown)
    // A second agent finds the lock at its new path.
    guard case .taken = InboxLock.ask(path + ".lock") else {
      Issue.record("the lock could be taken twice")
      return
    }
    #expect(try await kept(after: inbox) == ["waits"])
  }

  @Test func `after a deletion another process that takes the inbox keeps it`() async throws {
    let inbox = try await filled()
    try #require(rename(directory, temporary.path + "/gone") == 0)
    try #require(mkdir(directory, 0o700) == 0)
    guard case .held(let other) = InboxLock.ask(path + ".lock") else {
      Issue.record("the new lock could not be taken")
      return
    }
    _ = await inbox.receive(sampleTap("new"))
    #expect(reports.all.count == 1)
    #expect(reports.all.first?.contains("in use by another process") == true)
    #expect(access(path, F_OK) != 0)
    #expect(Set(try await inbox.list().map(\.id)) == ["new", "waits"])
    withExtendedLifetime(other) {}
  }

  @Test func `a file that replaces the inbox is moved aside unchanged`() async throws {
    let inbox = try await filled()
    let other = try temporary.write("another program's", to: "other")
    try #require(rename(other, path) == 0)
    _ = await inbox.receive(sampleTap("new"))
    #expect(reports.all.count == 1)
    #expect(reports.all.first?.contains(aside) == true)
    #expect(try await kept(after: inbox) == ["new", "waits"])
    #expect(try readFile(aside) == Array("another program's".utf8))
  }

  @Test func `an inbox that is overwritten in place is moved aside unchanged, and new taps are stored`() async throws {
    let inbox = try await filled()
    // Before a checkpoint, the write-ahead log has all the data, and an overwritten database would not matter.
    try Database(path: path).run("PRAGMA wal_checkpoint(TRUNCATE)")
    #expect(try await inbox.list().count == 2)
    let text = [UInt8](repeating: 0xA5, count: 50_000)
    let descriptor = open(path, O_WRONLY | O_TRUNC)
    try #require(descriptor >= 0)
    try #require(write(descriptor, text, text.count) == text.count)
    close(descriptor)
    _ = await inbox.receive(sampleTap("new"))
    #expect(reports.all.count == 1)
    #expect(reports.all.first?.contains(aside) == true)
    #expect(try await kept(after: inbox).contains("new"))
    #expect(try readFile(aside) == text)
  }

  @Test func `a new time stamp or another reader of the file has no effect`() async throws {
    let inbox = try await filled()
    try #require(utimes(path, nil) == 0)
    #expect(try Database(path: path, isReadOnly: true).run("SELECT id FROM taps").count == 2)
    _ = await inbox.receive(sampleTap("new"))
    #expect(reports.all.isEmpty)
    #expect(try await kept(after: inbox) == ["new", "waits", "over"])
  }
}

extension Inbox {
  /// Runs `body` after the inbox has checked its files and before it has finished with them.
  fileprivate func duringUse(_ body: @Sendable () -> Void) {
    _ = withStore { (_: TapStore) throws(SQLiteError) in body() }
  }
}
