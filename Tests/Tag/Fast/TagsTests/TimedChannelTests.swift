import Tags
import Testing

/// Answers every command, each after 600 milliseconds.
private struct SlowCard: TagChannel {
  final class Clock { var now = SuspendingClock.now }

  let clock: Clock
  var card: HostileChannel

  mutating func exchange(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
    clock.now += .milliseconds(600)
    return try card.exchange(command)
  }
}

@Suite struct TimedChannelTests {
  @Test func `an operation on a slow tag ends at its deadline`() throws {
    let clock = SlowCard.Clock()
    let card = SlowCard(clock: clock, card: HostileChannel(seed: 1, plausible: true))
    var channel = TimedChannel(card, until: clock.now + .seconds(10)) { clock.now }
    for _ in 0..<17 { _ = try channel.exchange([0x00, 0xB0, 0, 0, 1]) }
    #expect(throws: TagChannelError(.tooSlow, "the tag takes too long to answer")) {
      _ = try channel.exchange([0x00, 0xB0, 0, 0, 1])
    }
    #expect(channel.channel.card.count == 17)
  }
}
