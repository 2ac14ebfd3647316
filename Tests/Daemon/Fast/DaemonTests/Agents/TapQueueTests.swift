import Testing

@testable import Daemon

@Suite struct TapQueueTests {
  private var queue = TapQueue()
  private var clock = ManualClock()
  private let agent = Samples.agent()

  private mutating func tell(_ event: TapQueue.Event) -> [TapQueue.Action] { queue.handle(event, at: clock.now) }

  private mutating func read(_ id: String, held: Bool = false) -> [TapQueue.Action] {
    tell(.read(Samples.tap(id), held: held))
  }

  private mutating func finish(
    _ id: String, _ outcome: TapQueue.Outcome, by sender: String = ":1.7"
  ) -> [TapQueue.Action] { tell(.finished(id: id, sender: sender, outcome)) }

  @Test mutating func `a tap goes only to the agent of its session`() {
    #expect(tell(.agent(Samples.bob, Samples.agent(":1.9", of: Samples.bob))) == [])
    #expect(read("a") == [])
    #expect(tell(.agent(Samples.alice, agent)) == [.deliver(Samples.tap("a"), to: agent)])
    #expect(finish("a", .stored) == [.done(Samples.tap("a"))])
    #expect(queue.count == 0)
    #expect(queue.deadline == nil)
  }

  @Test mutating func `the taps of a session are delivered in order, one at a time`() {
    _ = tell(.agent(Samples.alice, agent))
    #expect(read("a") == [.deliver(Samples.tap("a"), to: agent)])
    #expect(read("b") == [])
    #expect(finish("a", .stored) == [.done(Samples.tap("a")), .deliver(Samples.tap("b"), to: agent)])
  }

  @Test mutating func `the next agent receives the unanswered tap of an agent that died`() {
    _ = tell(.agent(Samples.alice, Samples.agent(":1.7")))
    _ = read("a")
    #expect(tell(.agent(Samples.alice, nil)) == [])
    #expect(finish("a", .failed(reason: "NoReply")) == [])
    let successor = Samples.agent(":1.8")
    #expect(tell(.agent(Samples.alice, successor)) == [.deliver(Samples.tap("a"), to: successor)])
    // A late failure of the first agent does not affect the delivery to the second one.
    #expect(finish("a", .failed(reason: "NoReply")) == [])
    #expect(finish("a", .stored, by: ":1.8") == [.done(Samples.tap("a"))])
  }

  @Test mutating func `a failed tap is retried with growing delays`() {
    _ = tell(.agent(Samples.alice, agent))
    _ = read("a")
    for delay in [250, 500, 1000, 2000, 4000, 8000, 8000] {
      let failed = finish("a", .failed(reason: "Failed"))
      #expect(failed == [.postpone(Samples.tap("a"), reason: "Failed")])
      #expect(queue.deadline == clock.now.advanced(by: .milliseconds(delay)))
      clock.advance(.milliseconds(delay - 1))
      #expect(tell(.tick) == [])
      clock.advance(.milliseconds(1))
      #expect(tell(.tick) == [.deliver(Samples.tap("a"), to: agent)])
    }
  }

  @Test mutating func `a tap that the agent refuses is not sent again`() {
    _ = tell(.agent(Samples.alice, agent))
    _ = read("a")
    _ = read("b")
    #expect(
      finish("a", .refused(reason: "InvalidArgument")) == [
        .drop(Samples.tap("a"), reason: "its agent refused it: InvalidArgument"),
        .deliver(Samples.tap("b"), to: agent),
      ])
  }

  @Test mutating func `a tap waits for sixty seconds and no longer`() {
    _ = read("a")
    clock.advance(.seconds(30))
    _ = read("b")
    #expect(queue.deadline == clock.now.advanced(by: .seconds(30)))
    clock.advance(.seconds(30))
    #expect(tell(.tick) == [.drop(Samples.tap("a"), reason: "no agent accepted it within 60 seconds")])
    clock.advance(.seconds(29))
    #expect(tell(.agent(Samples.alice, Samples.agent())) == [.deliver(Samples.tap("b"), to: Samples.agent())])
  }

  @Test mutating func `sixteen taps can wait, and a newer tap drops the oldest one`() {
    for number in 1...16 { #expect(read("\(number)") == []) }
    #expect(read("17") == [.drop(Samples.tap("1"), reason: "16 newer ones wait for its agent")])
    #expect(queue.count == 16)
    #expect(tell(.agent(Samples.alice, Samples.agent())) == [.deliver(Samples.tap("2"), to: Samples.agent())])
  }

  @Test mutating func `a held tap waits for the unlock without a time limit`() {
    _ = tell(.agent(Samples.alice, Samples.agent()))
    #expect(read("a", held: true) == [])
    #expect(queue.deadline == nil)
    clock.advance(.seconds(3600))
    #expect(tell(.tick) == [])
    #expect(tell(.open(Samples.alice, true)) == [.deliver(Samples.tap("a"), to: Samples.agent())])
    #expect(queue.deadline == clock.now.advanced(by: .seconds(60)))
  }

  @Test mutating func `no tap is delivered while the session is locked`() {
    #expect(read("a") == [])
    #expect(tell(.open(Samples.alice, false)) == [])
    #expect(tell(.agent(Samples.alice, Samples.agent())) == [])
    #expect(tell(.open(Samples.alice, true)) == [.deliver(Samples.tap("a"), to: Samples.agent())])
  }

  @Test mutating func `the taps of a session are dropped when the session ends`() {
    _ = read("a", held: true)
    #expect(queue.waitingSessions == [Samples.alice])
    #expect(tell(.sessionEnded(Samples.alice)) == [.drop(Samples.tap("a"), reason: "its session has ended")])
    #expect(queue.waitingSessions == [])
  }

  @Test mutating func `a reply for a dropped tap frees the agent`() {
    _ = tell(.agent(Samples.alice, agent))
    _ = read("a")
    clock.advance(.seconds(60))
    #expect(tell(.tick) == [.drop(Samples.tap("a"), reason: "no agent accepted it within 60 seconds")])
    #expect(finish("a", .stored) == [])
    #expect(read("b") == [.deliver(Samples.tap("b"), to: agent)])
  }

  @Test mutating func `a retry delay ends with the last tap that waited for it`() {
    _ = tell(.agent(Samples.alice, agent))
    _ = read("a")
    clock.advance(.seconds(60) - .milliseconds(1))
    #expect(finish("a", .failed(reason: "Failed")) == [.postpone(Samples.tap("a"), reason: "Failed")])
    clock.advance(.milliseconds(1))
    #expect(tell(.tick) == [.drop(Samples.tap("a"), reason: "no agent accepted it within 60 seconds")])
    #expect(queue.deadline == nil)
    // The next tap is delivered at once, and its first failure has the shortest delay.
    #expect(read("b") == [.deliver(Samples.tap("b"), to: agent)])
    _ = finish("b", .failed(reason: "Failed"))
    #expect(queue.deadline == clock.now.advanced(by: TapQueue.retryDelay))
  }
}
