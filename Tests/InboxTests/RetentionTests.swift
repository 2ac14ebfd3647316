import Synchronization
import Testing

@testable import Inbox

struct RetentionTests {
  @Test func `finished taps go by age`() async throws {
    let inbox = Inbox(.memory, retention: Retention(days: 30), now: { sampleTime }, report: { _ in })
    _ = try await inbox.receive(sampleTap("old", time: sampleTime.before(days: 31)))
    _ = try await inbox.receive(sampleTap("young", time: sampleTime.before(days: 29)))
    for id in ["old", "young"] { try await inbox.move(id, to: .dismissed) }

    #expect(try await inbox.prune() == [])
    #expect(try await inbox.list().map(\.id) == ["young"])
  }

  @Test func `the oldest finished taps go by number, at once and without a prune`() async throws {
    let inbox = Inbox(.memory, retention: Retention(maximumTaps: 3), now: { sampleTime }, report: { _ in })
    for index in 0..<6 {
      _ = try await inbox.receive(sampleTap("\(index)"))
      try await inbox.move("\(index)", to: .dismissed)
    }
    #expect(try await inbox.list().map(\.id) == ["5", "4", "3"])
  }

  @Test func `a tap that waits is never dropped by a newer one, only expired by a prune`() async throws {
    let inbox = Inbox(.memory, retention: Retention(maximumTaps: 2), now: { sampleTime }, report: { _ in })
    for index in 0..<4 { _ = try await inbox.receive(sampleTap("\(index)")) }
    try await inbox.move("1", to: .shown)
    #expect(try await inbox.list().count == 4)

    #expect(try await inbox.prune() == ["0", "1"])
    #expect(try await inbox.tap("0").state == .expired)
    #expect(try await inbox.tap("1").state == .expired)
    #expect(try await inbox.tap("2").state == .received)
  }

  @Test func `a waiting tap that is too old expires`() async throws {
    let inbox = Inbox(.memory, retention: Retention(days: 1), now: { sampleTime }, report: { _ in })
    _ = try await inbox.receive(sampleTap("old", time: sampleTime.before(days: 2)))
    #expect(try await inbox.prune() == ["old"])
    #expect(try await inbox.prune() == [])
    await #expect(throws: InboxError.self) { try await inbox.tap("old") }
  }

  @Test func `a day count beyond all time does not trap`() {
    #expect(sampleTime.before(days: .max).microseconds == .min)
    #expect(Timestamp(microseconds: .min).before(days: 1).microseconds == .min)
  }
}
