import Glibc
import Rig
import Testing

@testable import Inbox

struct ClearingTests {
  private func filled(_ inbox: Inbox) async throws {
    let ways: [(String, [TapState])] = [
      ("received", []), ("shown", [.shown]), ("opening", [.opening]), ("delivered", [.opening, .delivered]),
      ("dismissed", [.dismissed]), ("failed", [.opening, .failed]), ("expired", [.expired]),
    ]
    for (number, (id, way)) in ways.enumerated() {
      _ = await inbox.receive(sampleTap(id, time: Timestamp(microseconds: Int64(number))))
      for state in way { try await inbox.move(id, to: state) }
    }
    _ = await inbox.refuse(sampleTap("refused", time: Timestamp(microseconds: 7)), detail: "")
  }

  static let cases: [(InboxClearing, Set<String>)] = [
    (InboxClearing(), ["delivered", "dismissed", "expired", "refused"]),
    (InboxClearing(onScreen: ["shown", "failed"]), ["delivered", "dismissed", "expired", "refused"]),
    (
      InboxClearing(onScreen: ["shown", "failed", "opening"], includesOnScreen: true),
      ["shown", "delivered", "dismissed", "failed", "expired", "refused"]
    ),
    (InboxClearing(before: Timestamp(microseconds: 5)), ["delivered", "dismissed"]),
    // A failed tap without a notification is about to get one.
    (InboxClearing(ids: ["failed", "opening", "shown", "nobody"], onScreen: ["shown"]), []),
    (InboxClearing(ids: ["failed", "refused", "expired"]), ["refused", "expired"]),
    (InboxClearing(ids: ["shown", "received"], onScreen: ["shown"], includesOnScreen: true), ["shown"]),
    (InboxClearing(ids: []), []),
  ]

  @Test(arguments: cases)
  func `clear removes finished taps, shown taps only on request, and never an opening tap`(
    clearing: InboxClearing, expected: Set<String>
  ) async throws {
    let inbox = Inbox(.memory, now: { sampleTime }, report: { _ in })
    try await filled(inbox)
    let before = Set(try await inbox.list().map(\.id))
    #expect(Set(try await inbox.clear(clearing)) == expected)
    #expect(Set(try await inbox.list().map(\.id)) == before.subtracting(expected))
    // The daemon sends a tap again, and it is not stored a second time.
    for id in expected { #expect(await !inbox.receive(sampleTap(id)).isNew) }
  }

  @Test func `many taps are removed in portions`() async throws {
    let inbox = Inbox(.memory, retention: Retention(maximumTaps: 3000), now: { sampleTime }, report: { _ in })
    for number in 0..<2500 { _ = await inbox.refuse(sampleTap("\(number)"), detail: "") }
    var portions: [Int] = []
    repeat {
      portions.append(try await inbox.clear(InboxClearing()).count)
    } while portions.last == InboxClearing.portion
    #expect(portions == [1000, 1000, 500])
  }

  @Test func `removed taps are erased from the file, and the file shrinks`() async throws {
    let temporary = try TemporaryDirectory()
    let inbox = Inbox(.file(directory: temporary.path, name: "inbox.sqlite"), now: { sampleTime }, report: { _ in })
    let secret = Array("the-secret-of-the-tag".utf8)
    for number in 0..<300 {
      _ = await inbox.refuse(sampleTap("\(number)", message: secret + [UInt8](repeating: 7, count: 2000)), detail: "")
    }
    func content() throws -> [UInt8] {
      try ["", "-wal"].flatMap { try readFile(temporary.path + "/inbox.sqlite" + $0) }
    }
    #expect(try content().firstRange(of: secret) != nil)
    #expect(try await inbox.clear(InboxClearing()).count == 300)
    await inbox.compact()
    let left = try content()
    #expect(left.firstRange(of: secret) == nil)
    #expect(left.count < 100_000)
  }

  @Test func `a single removed tap is overwritten in place`() async throws {
    let temporary = try TemporaryDirectory()
    let inbox = Inbox(.file(directory: temporary.path, name: "inbox.sqlite"), now: { sampleTime }, report: { _ in })
    for number in 0..<50 {
      let text = Array("secret-\(number)-".utf8)
      _ = await inbox.refuse(sampleTap("\(number)", message: text + [UInt8](repeating: 7, count: 500)), detail: "")
    }
    #expect(try await inbox.clear(InboxClearing(ids: ["20"])) == ["20"])
    await inbox.compact()
    let left = try ["", "-wal"].flatMap { try readFile(temporary.path + "/inbox.sqlite" + $0) }
    #expect(left.firstRange(of: Array("secret-20-".utf8)) == nil)
    #expect(left.firstRange(of: Array("secret-21-".utf8)) != nil)
  }

  @Test(arguments: [(true, false), (false, true)])
  func `clear removes the files moved aside, but not if it is limited to some ids`(
    isAll: Bool, isLeft: Bool
  ) async throws {
    let temporary = try TemporaryDirectory()
    let aside = try temporary.write("what was on tags", to: "inbox.sqlite.damaged-7")
    let log = try temporary.write("what was on tags", to: "inbox.sqlite.damaged-7-wal")
    let other = try temporary.write("not of this inbox", to: "inbox.sqlite.damaged-mine")
    let inbox = Inbox(.file(directory: temporary.path, name: "inbox.sqlite"), now: { sampleTime }, report: { _ in })
    _ = await inbox.refuse(sampleTap("a"), detail: "")
    #expect(try await inbox.clear(InboxClearing(ids: isAll ? nil : ["a"])) == ["a"])
    #expect((access(aside, F_OK) == 0) == isLeft)
    #expect((access(log, F_OK) == 0) == isLeft)
    #expect(access(other, F_OK) == 0)
  }

  @Test func `retention removes the files moved aside`() async throws {
    let temporary = try TemporaryDirectory()
    let limit = sampleTime.before(days: 30).microseconds
    let old = try temporary.write("", to: "inbox.sqlite.unusable-\(limit - 1)")
    let young = try temporary.write("", to: "inbox.sqlite.unusable-\(limit)")
    let inbox = Inbox(
      .file(directory: temporary.path, name: "inbox.sqlite"), retention: Retention(days: 30), now: { sampleTime },
      report: { _ in })
    _ = await inbox.prune()
    #expect(access(old, F_OK) != 0)
    #expect(access(young, F_OK) == 0)
  }
}
