package import Names
package import ReaderProtocol
package import Tags

extension ReaderOperation {
  /// The longest FeliCa command without its length byte, and the longest raw command, in bytes. Every reader takes this
  /// much at once.
  private static let mostAtOnce = 250

  /// Without an attempt; nil if the operation is attempted.
  package func refusal(for tag: TagActivation) -> ReaderOperationResult? {
    guard tag.isProper else {
      return .failed(.refused, reason: "the card's answer to select (ATS) is malformed")
    }
    guard case .transceive(let command, _) = self else { return nil }
    if tag.type == .mifareClassic {
      return .failed(.notSupported, reason: "raw commands are not supported for MIFARE Classic, only NDEF")
    }
    guard tag.isISODEP || command.count <= Self.mostAtOnce else {
      return .failed(.tooLong, reason: "the command is too long: at most \(Self.mostAtOnce) bytes for this kind of tag")
    }
    return nil
  }

  /// Not for `.read`, which has another method, and not for `.transceive`, which each program performs in its own way.
  package func perform(
    on tag: TagActivation, over channel: inout some TagChannel
  ) throws(TagChannelError) -> ReaderOperationResult {
    switch self {
    case .query: return ReaderOperationResult(try tag.queryNDEF(over: &channel))
    case .read, .transceive: return ReaderOperationResult(try tag.readNDEF(over: &channel))
    case .write(let message, let isVerifying, let isFormatting):
      return try Self.write(on: &channel) { (channel) throws(TagWriteError) in
        try tag.writeNDEF(message, isVerifying: isVerifying, isFormatting: isFormatting, over: &channel)
      }
    case .lock:
      return try Self.write(on: &channel) { (channel) throws(TagWriteError) in try tag.lockNDEF(over: &channel) }
    }
  }

  /// Repeats a doubtful reading. `tag` returns the channel's tag, which may have another identifier after each
  /// selection.
  package static func read<Channel: TagChannel>(
    over channel: inout Channel, tag: (Channel) -> TagActivation
  ) throws(TagChannelError) -> ReaderOperationResult {
    var before: Reading?
    for _ in 1..<Reading.attempts {
      let content = try tag(channel).readNDEF(over: &channel)
      let reading = Reading(content)
      if !reading.isDoubtful(after: before) { return ReaderOperationResult(content) }
      before = reading
      try channel.reselect()
    }
    return ReaderOperationResult(try tag(channel).readNDEF(over: &channel))
  }

  private static func write<Channel: TagChannel>(
    on channel: inout Channel, _ body: (inout Channel) throws(TagWriteError) -> Void
  ) throws(TagChannelError) -> ReaderOperationResult {
    do throws(TagWriteError) {
      try body(&channel)
      return .done
    } catch {
      if case .channel(let error) = error { throw error }
      return .failed(error.failure, reason: error.description)
    }
  }
}

extension ReaderOperationResult {
  package init(_ status: NDEFStatus) {
    let access: TagAccess =
      switch status.access {
      case .notSupported: .notSupported
      case .readWrite: .readWrite
      case .readOnly: .readOnly
      }
    self = .status(access, capacity: UInt32(clamping: status.capacity))
  }

  package init(_ content: TagContent) {
    switch content {
    case .message(let bytes): self = .message(bytes)
    case .problem(let problem): self = .failed(problem.failure, reason: problem.description)
    }
  }
}

extension TagProblem {
  fileprivate var failure: ReaderOperationFailure {
    switch code {
    case .empty: .empty
    case .blank: .notFormatted
    case .notNDEF, .unsupported: .notSupported
    default: .refused
    }
  }
}

extension TagWriteError {
  fileprivate var failure: ReaderOperationFailure {
    switch self {
    // `write(on:_:)` has already rethrown this error.
    case .channel: .timeout
    case .refused(let problem): problem.failure
    case .readOnly: .readOnly
    case .tooLong: .tooLong
    case .cannotLock: .cannotLock
    case .notAsWritten, .mirroring: .notAsWritten
    }
  }
}

/// A channel that reports how many bytes of a tag's memory have gone over it.
package struct ProgressChannel<Channel: TagChannel>: TagChannel {
  package enum Direction { case reading, writing }

  /// Between two reports.
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
  /// Bytes of the tag's memory in an answer.
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

  /// Bytes of the tag's memory that a command writes.
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
