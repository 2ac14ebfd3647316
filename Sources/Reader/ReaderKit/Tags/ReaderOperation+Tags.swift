import Names
package import ReaderProtocol
package import Tags

/// Performing a session's operations on a tag.
extension ReaderOperation {
  /// The longest FeliCa command without its length byte, and the longest raw command, in bytes. Every reader takes this
  /// much at once.
  private static let mostAtOnce = 250

  /// Why the operation is refused for a tag without an attempt; nil if it is attempted.
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

  /// Performs the operation, except for `.read`, for which there is another method, and `.transceive`, which each
  /// program performs in its own way.
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

  /// Performs `.read`. Repeats a doubtful reading. `tag` returns the channel's tag, which may have another identifier
  /// after each selection.
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
