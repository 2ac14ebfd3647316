package import Names
package import Tags

/// A channel that reports how many bytes of a tag's memory have gone over it.
package struct ProgressChannel<Channel: TagChannel>: TagChannel {
  package enum Direction { case reading, writing }

  /// The shortest time between two reports.
  package static var interval: Duration { .milliseconds(250) }

  package private(set) var channel: Channel
  private let type: TagType
  private let direction: Direction
  private let now: () -> SuspendingClock.Instant
  private let tell: (UInt32) -> Void
  private var bytes: UInt32 = 0
  private var told: SuspendingClock.Instant

  /// If a message is read back after it was written, only the writing is counted. `tell` is called with the number of
  /// bytes so far.
  package init(
    _ channel: Channel, _ type: TagType, counts direction: Direction,
    now: @escaping () -> SuspendingClock.Instant = { .now }, tell: @escaping (UInt32) -> Void
  ) {
    self.channel = channel
    self.type = type
    self.direction = direction
    self.now = now
    self.tell = tell
    told = now()
  }

  package mutating func exchange(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
    let answer = try channel.exchange(command)
    let size =
      switch direction {
      case .reading: type.bytesRead(command, answer.count)
      case .writing: type.bytesWritten(command)
      }
    bytes += UInt32(clamping: max(0, size))
    let time = now()
    if told.duration(to: time) >= Self.interval {
      told = time
      tell(bytes)
    }
    return answer
  }

  package mutating func reselect() throws(TagChannelError) { try channel.reselect() }

  package func canSend(_ command: [UInt8]) -> Bool { channel.canSend(command) }
}

extension TagType {
  /// The number of bytes of the tag's memory in an answer.
  fileprivate func bytesRead(_ command: [UInt8], _ count: Int) -> Int {
    switch (self, command.first) {
    case (.type1, 0x02), (.type1, 0x10): count - 1
    case (.type1, 0x00): count - 2
    case (.type2, 0x30), (.type2, 0x3A), (.mifareClassic, 0x30): count
    // Response code, identifier, status flags, number of blocks.
    case (.type3, 0x06): count - 12
    // Flags. The command code follows the flags of the request, too.
    case (.type5, _): [0x20, 0x23, 0x30, 0x33].contains(command.dropFirst().first) ? count - 1 : 0
    case (.type4A, 0x00), (.type4B, 0x00): command.dropFirst().first.map { $0 & 0xFE } == 0xB0 ? count - 2 : 0
    default: 0
    }
  }

  /// The number of bytes of the tag's memory that a command writes.
  fileprivate func bytesWritten(_ command: [UInt8]) -> Int {
    switch (self, command.first) {
    case (.type1, 0x54), (.type1, 0x1B): 8
    case (.type1, 0x53), (.type1, 0x1A): 1
    case (.type2, 0xA2): 4
    case (.mifareClassic, 0xA0): 16
    // The number of blocks follows the identifier, the number of services and the one service.
    case (.type3, 0x08): command.count > 12 ? 16 * Int(command[12]) : 0
    // Flags, command code, and the number of the block in one or two bytes.
    case (.type5, _) where command.dropFirst().first == 0x21: command.count - 3
    case (.type5, _) where command.dropFirst().first == 0x31: command.count - 4
    case (.type4A, 0x00), (.type4B, 0x00): command.dropFirst().first.map { $0 & 0xFE } == 0xD6 ? command.count - 5 : 0
    default: 0
    }
  }
}
