import Glibc
import NDEF
import Rig
import Testing

@testable import Inbox

struct InboxFileTests {
  private let temporary: TemporaryDirectory
  private let reports = Reports()

  init() throws { temporary = try TemporaryDirectory() }

  private func inbox(in directory: String, pages: Int = 0, reports: Reports = Reports()) -> Inbox {
    Inbox(
      .file(directory: directory, name: "inbox.sqlite"), retention: Retention(), maximumPages: pages,
      now: { sampleTime }, report: reports.report)
  }

  private func mode(of path: String) throws -> mode_t {
    var status = stat()
    try #require(stat(path, &status) == 0)
    return status.st_mode & 0o777
  }

  @Test func `a state directory behind a symbolic link is accepted`() async throws {
    mkdir(temporary.path + "/elsewhere", 0o700)
    try #require(symlink(temporary.path + "/elsewhere", temporary.path + "/state") == 0)
    let inbox = inbox(in: temporary.path + "/state/tagroute", reports: reports)
    _ = await inbox.receive(sampleTap("a"))
    #expect(reports.all.isEmpty)
    #expect(fileNames(in: temporary.path + "/elsewhere/tagroute")?.contains("inbox.sqlite") == true)
  }

  @Test func `a database that is a symbolic link is not followed`() async throws {
    let directory = temporary.path + "/tagroute"
    mkdir(directory, 0o700)
    try temporary.write([], to: "other", mode: 0o600)
    try #require(symlink(temporary.path + "/other", directory + "/inbox.sqlite") == 0)
    _ = await inbox(in: directory, reports: reports).receive(sampleTap("a"))
    #expect(!reports.all.isEmpty)
    #expect(try readFile(temporary.path + "/other").isEmpty)
  }

  @Test func `only the user can read the file, whatever the umask and the old mode of the directory`() async throws {
    let directory = temporary.path + "/state/tagroute"
    mkdir(temporary.path + "/state", 0o755)
    mkdir(directory, 0o755)
    let inbox = inbox(in: directory)
    _ = await inbox.receive(sampleTap("a"))

    #expect(try mode(of: directory) == 0o700)
    let files = try #require(fileNames(in: directory))
    #expect(files.contains("inbox.sqlite"))
    for name in files { #expect(try mode(of: directory + "/" + name) == 0o600, "\(name)") }
  }

  @Test func `committed taps survive a kill of the process`() async throws {
    let before = temporary.path + "/before"
    let after = temporary.path + "/after"
    let first = inbox(in: before)
    _ = await first.receive(sampleTap("a"))
    _ = await first.receive(sampleTap("b"))
    try await first.move("b", to: .shown)
    // A killed process leaves its files as they are, without closing the connection. `first` is still open here.
    mkdir(after, 0o700)
    for name in try #require(fileNames(in: before)) where !name.hasSuffix("-shm") {
      try temporary.write(try readFile(before + "/" + name), to: "after/\(name)", mode: 0o600)
    }

    let second = inbox(in: after, reports: reports)
    #expect(try await second.list().map(\.id) == ["b", "a"])
    #expect(try await second.tap("b").state == .shown)
    #expect(try await second.tap("a").read.bytes == sampleTap("a").read.bytes)
    #expect(reports.all.isEmpty)
    #expect(try await first.list().count == 2)
  }

  @Test func `a damaged file is moved aside and reported, and a new file is used`() async throws {
    try temporary.write(
      "this is not a database, but it is long enough to be read as one", to: "inbox.sqlite", mode: 0o600)
    let inbox = inbox(in: temporary.path, reports: reports)

    #expect(await inbox.receive(sampleTap("a")).isNew)
    #expect(try await inbox.list().map(\.id) == ["a"])
    let aside = "inbox.sqlite.damaged-\(sampleTime.microseconds)"
    #expect(fileNames(in: temporary.path)?.contains(aside) == true)
    #expect(reports.all.count == 1)
    #expect(reports.all.first?.contains(aside) == true)
  }

  /// The bytes of a closed file with this many taps, each with a large message.
  private func file(of count: Int, _ state: TapState) throws -> [UInt8] {
    do {
      let store = try InboxFile(directory: temporary.path, name: "inbox.sqlite").open(at: sampleTime, report: { _ in })
      try store.database.transaction { () throws(SQLiteError) in
        for index in 0..<count {
          let tap = sampleTap("\(index)", message: [UInt8](repeating: 7, count: 1000))
          _ = try store.put(tap.being(state))
        }
      }
    }
    return try readFile(temporary.path + "/inbox.sqlite")
  }

  @Test func `a file damaged in its middle is detected at the start`() async throws {
    var bytes = try file(of: 50, .received)
    try #require(bytes.count > 20_000)
    for index in 4096..<20_000 { bytes[index] = 0xA5 }
    try temporary.write(bytes, to: "inbox.sqlite", mode: 0o600)

    let inbox = inbox(in: temporary.path, reports: reports)
    #expect(await inbox.receive(sampleTap("next")).isNew)
    #expect(reports.all.contains { $0.contains("damaged") })
  }

  @Test func `damage that no tap meets is found by a full check, and open taps are kept`() async throws {
    var bytes = try file(of: 2000, .delivered)
    // Damages a page in the middle that is full of messages.
    let content = bytes
    func isFull(_ page: Int) -> Bool {
      let page = content[page * 4096..<page * 4096 + 4096]
      return page.first == 0x0D && page.filter { $0 == 7 }.count > 2000
    }
    let page = try #require((100..<content.count / 4096).first(where: isFull))
    for index in page * 4096..<(page + 1) * 4096 { bytes[index] = 0xA5 }
    try temporary.write(bytes, to: "inbox.sqlite", mode: 0o600)

    // The limit is not reached: a removal would read the damaged page.
    let inbox = Inbox(
      .file(directory: temporary.path, name: "inbox.sqlite"), retention: Retention(maximumTaps: 3000),
      now: { sampleTime }, report: reports.report)
    #expect(await inbox.receive(sampleTap("next")).isNew)
    try await inbox.move("next", to: .shown)
    #expect(reports.all.isEmpty)
    await inbox.check()
    #expect(reports.all.count == 1 && reports.all.first?.contains("damaged") == true)
    #expect(try await inbox.list().map(\.id) == ["next"])
    #expect(try await inbox.tap("next").state == .shown)
    await inbox.check()
    #expect(reports.all.count == 1)
  }

  @Test func `any number of taps in memory is saved when the file can be written`() async throws {
    let directory = temporary.path + "/state"
    try temporary.write([], to: "state", mode: 0o600)
    let many = InboxQuery.maximumLimit + 200
    let location = Inbox.Location.file(directory: directory, name: "inbox.sqlite")
    let first = Inbox(location, retention: Retention(maximumTaps: many), now: { sampleTime }, report: { _ in })
    for index in 0..<many { _ = await first.refuse(sampleTap("\(index)"), detail: "") }
    unlink(directory)
    _ = await first.retryFile(maximum: 10)
    #expect(try await first.tap("\(many - 1)").state == .failedOffScreen)
    #expect(try await first.tap("0").state == .failedOffScreen)
  }

  @Test(arguments: [1, 3, 99]) func `a file of another version of the program is moved aside unchanged`(
    number: Int
  ) async throws {
    do {
      let database = try Database(path: temporary.path + "/inbox.sqlite")
      try database.run("PRAGMA user_version = \(number)")
    }
    let inbox = inbox(in: temporary.path, reports: reports)
    #expect(await inbox.receive(sampleTap("a")).isNew)

    let aside = temporary.path + "/inbox.sqlite.unusable-\(sampleTime.microseconds)"
    let version = try Database(path: aside).run("PRAGMA user_version")
    #expect(version.first?.first == .integer(Int64(number)))
    #expect(reports.all.first?.contains("schema version \(number)") == true)
  }

  @Test func `a reason is one line of limited length, and an unknown reason code is kept`() async throws {
    let inbox = Inbox(.memory, now: { sampleTime }, report: { _ in })
    _ = await inbox.receive(sampleTap("a"))
    let words = "no\n\u{1B}[2J" + String(repeating: "x", count: 10_000)
    try await inbox.move("a", to: .failed, reason: TapReason(.init(rawValue: "later"), detail: words))
    let reason = try await inbox.tap("a").reason
    #expect(reason.code.rawValue == "later")
    #expect(reason.detail.hasPrefix("no  [2Jxxx"))
    #expect(reason.detail.unicodeScalars.count == TapReason.maximumDetail)
  }

  /// Not by this program. To load or to remove its taps would take seconds, and hundreds of megabytes.
  @Test func `a file with far too many taps is moved aside unread`() async throws {
    do {
      let store = try TapStore(path: temporary.path + "/inbox.sqlite")
      try store.database.run(
        """
        WITH RECURSIVE numbers (number) AS (SELECT 0 UNION ALL SELECT number + 1 FROM numbers LIMIT \(TapStore.mostTaps + 1))
        INSERT INTO taps (id, time, message, technology, uid, reader, title, state, changed)
          SELECT number, number, x'00', '', x'', '', '', 'received', 0 FROM numbers
        """)
    }
    let inbox = inbox(in: temporary.path, reports: reports)
    #expect(await inbox.receive(sampleTap("a")).isNew)
    #expect(try await inbox.list().count == 1)
    let aside = temporary.path + "/inbox.sqlite.unusable-\(sampleTime.microseconds)"
    #expect(reports.all.count == 1 && reports.all.first?.contains("more than 150000 taps") == true, "\(reports.all)")
    #expect(try Database(path: aside).run("SELECT count(*) FROM taps") == [[.integer(150_001)]])
  }

  @Test func `on a full disk only history is lost, never the next tap`() async throws {
    let inbox = inbox(in: temporary.path, pages: 12, reports: reports)
    let message = [UInt8](repeating: 1, count: 3000)
    for index in 0..<20 {
      #expect(await inbox.receive(sampleTap("\(index)", message: message)).isNew)
      #expect(try await inbox.tap("\(index)").read.bytes == message)
    }
    try await inbox.move("0", to: .shown)
    #expect(reports.all.count == 1)
    #expect(reports.all.first?.contains("kept in memory") == true)
  }

  @Test func `without a directory only history is lost, never the next tap`() async throws {
    try temporary.write([], to: "file", mode: 0o600)
    let inbox = inbox(in: temporary.path + "/file/below", reports: reports)
    #expect(await inbox.receive(sampleTap("a")).isNew)
    #expect(try await inbox.list().map(\.id) == ["a"])
    #expect(reports.all.count == 1)
  }

  @Test func `the second process keeps taps in memory and takes the file over when it is free`()
    async throws
  {
    let first = inbox(in: temporary.path)
    _ = await first.receive(sampleTap("opening"))
    try await first.move("opening", to: .opening)
    let second = inbox(in: temporary.path, reports: reports)
    #expect(try await second.list().isEmpty)
    _ = await second.receive(sampleTap("mine"))
    try await second.move("mine", to: .opening)
    #expect(reports.all.count == 1 && reports.all[0].contains("in use by another process"))
    // While the first process has the file, the second one cannot change it.
    #expect(await second.prune() == [])
    #expect(try await first.list().map(\.id) == ["opening"])

    let taking = Task { await second.waitForFile(maximum: 10) }
    await first.close()
    let left = try #require(await taking.value)
    #expect(left.waiting.map(\.id) == ["opening"] && left.waiting.map(\.state) == [.failed])
    // The second process is still opening its own tap.
    #expect(try await second.tap("mine").state == .opening)
    await second.close()
    #expect(try await Set(inbox(in: temporary.path).list().map(\.id)) == ["mine", "opening"])
    #expect(reports.all.last?.contains("again") == true)
  }

  @Test func `the first process has no file to wait for`() async throws {
    #expect(await inbox(in: temporary.path).waitForFile(maximum: 10) == nil)
    #expect(await Inbox(.memory, now: { sampleTime }, report: { _ in }).waitForFile(maximum: 10) == nil)
  }
}

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
    guard case .taken = InboxLock.ask(path + ".lock") else { throw RigError("the lock could be taken twice") }
    #expect(try await kept(after: inbox) == ["waits"])
  }

  @Test func `after a deletion another process that takes the inbox keeps it`() async throws {
    let inbox = try await filled()
    try #require(rename(directory, temporary.path + "/gone") == 0)
    try #require(mkdir(directory, 0o700) == 0)
    guard case .held(let other) = InboxLock.ask(path + ".lock") else {
      throw RigError("the new lock could not be taken")
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
