/// A channel with an end: a tag that answers each command just in time must not keep the reader for itself.
public struct TimedChannel<Channel: TagChannel>: TagChannel {
  /// The way to the tag.
  public private(set) var channel: Channel
  private let now: () -> SuspendingClock.Instant
  private let end: SuspendingClock.Instant

  /// - Parameters:
  ///   - channel: the way to the tag.
  ///   - end: until when it may be used.
  ///   - now: tells the time.
  public init(
    _ channel: Channel, until end: SuspendingClock.Instant, now: @escaping () -> SuspendingClock.Instant = { .now }
  ) {
    self.channel = channel
    self.end = end
    self.now = now
  }

  /// Sends a command and waits for the answer.
  ///
  /// - Parameter command: as `TagChannel` says.
  /// - Returns: the answer, of any length and content.
  /// - Throws: `TagChannelError`: that of the channel, or `tooSlow` once the time is used up.
  public mutating func exchange(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
    try checkTime()
    return try channel.exchange(command)
  }

  /// Selects the same tag anew.
  ///
  /// - Throws: `TagChannelError`: that of the channel, or `tooSlow` once the time is used up.
  public mutating func reselect() throws(TagChannelError) {
    try checkTime()
    try channel.reselect()
  }

  private func checkTime() throws(TagChannelError) {
    guard now() < end else { throw TagChannelError(.tooSlow, "the tag takes too long to answer") }
  }
}
