import Glibc
import TestSupport
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

  /// An inbox with a tap that is over, and one that waits.
  private func filled() async throws -> Inbox {
    let inbox = inbox()
    _ = await inbox.receive(sampleTap("over"))
    try await inbox.move("over", to: .dismissed)
    _ = await inbox.receive(sampleTap("waits"))
    return inbox
  }

  /// What is in the file once the process has gone.
  private func kept(after inbox: Inbox) async throws -> [String] {
    await inbox.close()
    return try await self.inbox().list().map(\.id)
  }

  @Test(arguments: [["", "-wal", "-shm"], [""]])
  func `a deleted inbox is noticed at the next tap, and what waits is in a new file`(suffixes: [String]) async throws {
    let inbox = try await filled()
    for suffix in suffixes { try #require(unlink(path + suffix) == 0) }
    _ = await inbox.receive(sampleTap("new"))
    #expect(reports.all.count == 1)
    #expect(reports.all.first?.contains("was deleted while it was in use") == true)
    _ = await inbox.receive(sampleTap("newer"))
    #expect(try await kept(after: inbox) == ["newer", "new", "waits"])
    #expect(reports.all.count == 1)
  }

  @Test func `an inbox that is deleted while it is written is noticed at the next tap`() async throws {
    let inbox = try await filled()
    await inbox.duringUse { [path] in _ = unlink(path) }
    #expect(reports.all.isEmpty)
    _ = await inbox.receive(sampleTap("new"))
    #expect(reports.all.count == 1)
    #expect(try await kept(after: inbox) == ["new", "waits"])
  }

  @Test func `a deleted directory is made again`() async throws {
    let inbox = try await filled()
    try #require(rename(directory, temporary.path + "/gone") == 0)
    try await inbox.move("waits", to: .shown)
    // A second agent finds the lock at its new place.
    guard case .taken = InboxLock.ask(path + ".lock") else {
      Issue.record("the lock can be had twice")
      return
    }
    #expect(try await kept(after: inbox) == ["waits"])
  }

  @Test func `an inbox that another process took after its deletion stays with that process`() async throws {
    let inbox = try await filled()
    try #require(rename(directory, temporary.path + "/gone") == 0)
    try #require(mkdir(directory, 0o700) == 0)
    guard case .held(let other) = InboxLock.ask(path + ".lock") else {
      Issue.record("the new lock cannot be had")
      return
    }
    _ = await inbox.receive(sampleTap("new"))
    #expect(reports.all.count == 1)
    #expect(reports.all.first?.contains("in use by another process") == true)
    #expect(access(path, F_OK) != 0)
    #expect(Set(try await inbox.list().map(\.id)) == ["new", "waits"])
    withExtendedLifetime(other) {}
  }

  @Test func `a deleted write-ahead log is noticed, and what waits is in a new file`() async throws {
    let inbox = try await filled()
    try #require(unlink(path + "-wal") == 0)
    _ = await inbox.receive(sampleTap("new"))
    #expect(reports.all.count == 1)
    #expect(try await kept(after: inbox) == ["new", "waits"])
  }

  @Test func `a file in the place of the inbox is kept aside as it is`() async throws {
    let inbox = try await filled()
    let other = try temporary.write("another program's", to: "other")
    try #require(rename(other, path) == 0)
    _ = await inbox.receive(sampleTap("new"))
    #expect(reports.all.count == 1)
    #expect(reports.all.first?.contains(aside) == true)
    #expect(try await kept(after: inbox) == ["new", "waits"])
    #expect(try readFile(aside) == Array("another program's".utf8))
  }

  @Test func `an inbox that is overwritten in place is kept aside as it is, and the taps go on`() async throws {
    let inbox = try await filled()
    // Until a checkpoint the write-ahead log has everything, and the database's own bytes do not matter.
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

  @Test func `a new time stamp alone, or a reader beside the agent, changes nothing`() async throws {
    let inbox = try await filled()
    try #require(utimes(path, nil) == 0)
    #expect(try Database(path: path, isReadOnly: true).run("SELECT id FROM taps").count == 2)
    _ = await inbox.receive(sampleTap("new"))
    #expect(reports.all.isEmpty)
    #expect(try await kept(after: inbox) == ["new", "waits", "over"])
  }
}

extension Inbox {
  /// Does something after the inbox has looked at its files, and before it is done with them.
  fileprivate func duringUse(_ body: @Sendable () -> Void) {
    _ = withStore { (_: TapStore) throws(SQLiteError) in body() }
  }
}
