/// A channel with a deadline. It stops a tag that answers each command just in time from blocking the reader.
package struct TimedChannel<Channel: TagChannel>: TagChannel {
  /// The channel to the tag.
  package private(set) var channel: Channel
  private let now: () -> SuspendingClock.Instant
  private let end: SuspendingClock.Instant

  /// `now` returns the current time.
  package init(
    _ channel: Channel, until end: SuspendingClock.Instant, now: @escaping () -> SuspendingClock.Instant = { .now }
  ) {
    self.channel = channel
    self.end = end
    self.now = now
  }

  /// Sends a command and waits for the answer. Fails with `tooSlow` after the deadline.
  package mutating func exchange(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
    try checkTime()
    return try channel.exchange(command)
  }

  /// Selects the same tag again. Fails with `tooSlow` after the deadline.
  package mutating func reselect() throws(TagChannelError) {
    try checkTime()
    try channel.reselect()
  }

  /// Whether the reader can send this command.
  package func canSend(_ command: [UInt8]) -> Bool { channel.canSend(command) }

  private func checkTime() throws(TagChannelError) {
    guard now() < end else { throw TagChannelError(.tooSlow, "the tag takes too long to answer") }
  }
}
