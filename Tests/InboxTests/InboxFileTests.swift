import Glibc
import Testing
import TestSupport

@testable import Inbox

struct InboxFileTests {
  private func inbox(in directory: String, pages: Int = 0, reports: Reports = Reports()) -> Inbox {
    Inbox(
      .file(directory: directory, name: "inbox.sqlite"), retention: Retention(), maximumPages: pages,
      now: { sampleTime }, report: reports.report)
  }

  private func names(in directory: String) -> [String] {
    guard let stream = opendir(directory) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      withUnsafeBytes(of: &entry.pointee.d_name) {
        names.append(String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self))
      }
    }
    return names.filter { $0 != "." && $0 != ".." }.sorted()
  }

  private func mode(of path: String) throws -> mode_t {
    var status = stat()
    try #require(stat(path, &status) == 0)
    return status.st_mode & 0o777
  }

  private func write(_ bytes: [UInt8], to path: String) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    try #require(Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
  }

  private func read(_ path: String) throws -> [UInt8] {
    let descriptor = open(path, O_RDONLY)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let count = Glibc.read(descriptor, &bytes, bytes.count)
    return Array(bytes.prefix(max(count, 0)))
  }

  @Test func `a state directory behind a symbolic link is as good as any`() async throws {
    let temporary = try TemporaryDirectory()
    mkdir(temporary.path + "/elsewhere", 0o700)
    try #require(symlink(temporary.path + "/elsewhere", temporary.path + "/state") == 0)
    let reports = Reports()
    let inbox = inbox(in: temporary.path + "/state/tagroute", reports: reports)
    _ = try await inbox.receive(sampleTap("a"))
    #expect(reports.all.isEmpty)
    #expect(names(in: temporary.path + "/elsewhere/tagroute").contains("inbox.sqlite"))
  }

  @Test func `a database that is a symbolic link is not followed`() async throws {
    let temporary = try TemporaryDirectory()
    let directory = temporary.path + "/tagroute"
    mkdir(directory, 0o700)
    try write([], to: temporary.path + "/other")
    try #require(symlink(temporary.path + "/other", directory + "/inbox.sqlite") == 0)
    let reports = Reports()
    _ = try await inbox(in: directory, reports: reports).receive(sampleTap("a"))
    #expect(!reports.all.isEmpty)
    #expect(try read(temporary.path + "/other").isEmpty)
  }

  @Test func `the file is the user's alone, whatever the umask and the directory were`() async throws {
    let temporary = try TemporaryDirectory()
    let directory = temporary.path + "/state/tagroute"
    mkdir(temporary.path + "/state", 0o755)
    mkdir(directory, 0o755)
    let inbox = inbox(in: directory)
    _ = try await inbox.receive(sampleTap("a"))

    #expect(try mode(of: directory) == 0o700)
    let files = names(in: directory)
    #expect(files.contains("inbox.sqlite"))
    for name in files { #expect(try mode(of: directory + "/" + name) == 0o600, "\(name)") }
  }

  @Test func `what was committed is there after the process was killed`() async throws {
    let temporary = try TemporaryDirectory()
    let before = temporary.path + "/before"
    let after = temporary.path + "/after"
    let first = inbox(in: before)
    _ = try await first.receive(sampleTap("a"))
    _ = try await first.receive(sampleTap("b"))
    try await first.move("b", to: .shown)
    // A killed process leaves its files as they are at that moment, with the connection never closed: `first` is alive here.
    mkdir(after, 0o700)
    for name in names(in: before) where !name.hasSuffix("-shm") {
      try write(try read(before + "/" + name), to: after + "/" + name)
    }

    let reports = Reports()
    let second = inbox(in: after, reports: reports)
    #expect(try await second.list().map(\.id) == ["b", "a"])
    #expect(try await second.tap("b").state == .shown)
    #expect(try await second.tap("a").tap.message == sampleTap("a").message)
    #expect(reports.all.isEmpty)
    #expect(try await first.list().count == 2)
  }

  @Test func `a damaged file is moved aside under a name that is said, and a fresh one works`() async throws {
    let temporary = try TemporaryDirectory()
    try write(
      Array("this is not a database, but it is long enough to be read as one".utf8),
      to: temporary.path + "/inbox.sqlite")
    let reports = Reports()
    let inbox = inbox(in: temporary.path, reports: reports)

    #expect(try await inbox.receive(sampleTap("a")).isNew)
    #expect(try await inbox.list().map(\.id) == ["a"])
    let aside = "inbox.sqlite.damaged-\(sampleTime.microseconds)"
    #expect(names(in: temporary.path).contains(aside))
    #expect(reports.all.count == 1)
    #expect(reports.all.first?.contains(aside) == true)
  }

  @Test func `a file damaged in its middle is noticed at the start`() async throws {
    let temporary = try TemporaryDirectory()
    let path = temporary.path + "/inbox.sqlite"
    do {
      let store = try InboxFile(directory: temporary.path, name: "inbox.sqlite").open(at: sampleTime, report: { _ in })
      for index in 0..<50 {
        let message = [UInt8](repeating: 7, count: 1000)
        let tap = sampleTap("\(index)", message: message)
        _ = try store.insert(StoredTap(tap: tap, state: .received, changed: sampleTime, reason: ""))
      }
    }
    var bytes = try read(path)
    try #require(bytes.count > 20_000)
    for index in 4096..<20_000 { bytes[index] = 0xA5 }
    try write(bytes, to: path)

    let reports = Reports()
    let inbox = inbox(in: temporary.path, reports: reports)
    #expect(try await inbox.receive(sampleTap("next")).isNew)
    #expect(reports.all.contains { $0.contains("damaged") })
  }

  @Test func `a file of a newer program is kept and not touched`() async throws {
    let temporary = try TemporaryDirectory()
    do {
      let database = try Database(path: temporary.path + "/inbox.sqlite")
      try database.run("PRAGMA user_version = 99")
    }
    let reports = Reports()
    let inbox = inbox(in: temporary.path, reports: reports)
    #expect(try await inbox.receive(sampleTap("a")).isNew)

    let aside = temporary.path + "/inbox.sqlite.unusable-\(sampleTime.microseconds)"
    let version = try Database(path: aside).run("PRAGMA user_version")
    #expect(version.first?.first == .integer(99))
    #expect(reports.all.first?.contains("schema version 99") == true)
  }

  @Test func `a full disk costs history and never the next tap`() async throws {
    let temporary = try TemporaryDirectory()
    let reports = Reports()
    let inbox = inbox(in: temporary.path, pages: 12, reports: reports)
    let message = [UInt8](repeating: 1, count: 3000)
    for index in 0..<20 {
      #expect(try await inbox.receive(sampleTap("\(index)", message: message)).isNew)
      #expect(try await inbox.tap("\(index)").tap.message == message)
    }
    try await inbox.move("0", to: .shown)
    #expect(reports.all.count == 1)
    #expect(reports.all.first?.contains("kept in memory") == true)
  }

  @Test func `a directory that cannot be made costs history and never the next tap`() async throws {
    let temporary = try TemporaryDirectory()
    try write([], to: temporary.path + "/file")
    let reports = Reports()
    let inbox = inbox(in: temporary.path + "/file/below", reports: reports)
    #expect(try await inbox.receive(sampleTap("a")).isNew)
    #expect(try await inbox.list().map(\.id) == ["a"])
    #expect(reports.all.count == 1)
  }

  @Test func `once the file can be written again what memory held goes into it`() async throws {
    let temporary = try TemporaryDirectory()
    let directory = temporary.path + "/state"
    try write([], to: directory)
    let reports = Reports()
    let first = inbox(in: directory, reports: reports)
    _ = try await first.receive(sampleTap("a"))
    unlink(directory)
    _ = try await first.prune()
    try await first.move("a", to: .shown)

    #expect(reports.all.last?.contains("again") == true)
    #expect(try await inbox(in: directory).tap("a").state == .shown)
  }
}
