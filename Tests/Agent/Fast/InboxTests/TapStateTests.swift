import Testing

@testable import Inbox

struct TapStateTests {
  /// Every pair of states: the listed transitions are allowed and all others are rejected.
  static let allowed: [TapState: Set<TapState>] = [
    .received: [.shown, .opening, .dismissed, .failed, .expired],
    .shown: [.opening, .dismissed, .failed, .expired],
    .opening: [.delivered, .failed],
    .delivered: [],
    .dismissed: [.opening, .delivered],
    .failed: [.opening, .dismissed, .expired, .delivered, .failed],
    .expired: [.opening, .dismissed, .delivered, .expired],
  ]

  /// The shortest way from a new tap to each state.
  static let ways: [TapState: [TapState]] = [
    .received: [], .shown: [.shown], .opening: [.opening], .delivered: [.opening, .delivered],
    .dismissed: [.dismissed], .failed: [.failed], .expired: [.expired],
  ]

  @Test(arguments: TapState.allCases, TapState.allCases)
  func `a transition in the table is stored, and any other is an error`(
    from: TapState, to: TapState
  ) async throws {
    let inbox = Inbox(.memory, now: { sampleTime }, report: { _ in })
    _ = await inbox.receive(sampleTap("a"))
    for state in try #require(Self.ways[from]) { try await inbox.move("a", to: state) }

    if try #require(Self.allowed[from]).contains(to) {
      try await inbox.move("a", to: to, reason: TapReason(.handlerFailed, detail: "why"))
      #expect(try await inbox.tap("a").state == to)
      #expect(try await inbox.tap("a").reason == TapReason(.handlerFailed, detail: "why"))
    } else {
      let error = await #expect(throws: InboxError.self) { try await inbox.move("a", to: to) }
      #expect(error?.code == .illegalTransition)
      #expect(try await inbox.tap("a").state == from)
    }
  }

  @Test func `the open states are those that a crash leaves unfinished`() {
    #expect(Set(TapState.allCases.filter(\.isOpen)) == [.received, .shown, .opening])
  }
}
