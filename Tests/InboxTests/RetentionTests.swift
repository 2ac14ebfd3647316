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

  @Test func `the oldest that wait go by number too, at once, and are named`() async throws {
    let inbox = Inbox(.memory, retention: Retention(maximumTaps: 3), now: { sampleTime }, report: { _ in })
    _ = try await inbox.receive(sampleTap("opening"))
    try await inbox.move("opening", to: .opening)
    for index in 0..<2 { #expect(try await inbox.receive(sampleTap("\(index)")).expired == []) }
    try await inbox.move("1", to: .shown)
    for index in 2..<200 {
      #expect(try await inbox.receive(sampleTap("\(index)")) == Reception(isNew: true, expired: ["\(index - 2)"]))
    }
    #expect(try await inbox.list().map(\.id) == ["199", "198", "opening"])
    #expect(try await !inbox.receive(sampleTap("197")).isNew)
    #expect(try await inbox.prune() == [])
  }

  @Test func `what is being opened stays over the maximum, and the newest tap is taken all the same`() async throws {
    let inbox = Inbox(.memory, retention: Retention(maximumTaps: 1), now: { sampleTime }, report: { _ in })
    for id in ["a", "b"] {
      #expect(try await inbox.receive(sampleTap(id)) == Reception(isNew: true, expired: []))
      try await inbox.move(id, to: .opening)
    }
    #expect(try await inbox.receive(sampleTap("c")).isNew)
    #expect(try await inbox.list().map(\.id) == ["c", "b", "a"])
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
