package import ReaderProtocol
package import Tags

/// The part of a reader session that differs between the reader programs: selecting tags. The rest is below.
package protocol SessionServer: AnyObject {
  var daemon: DaemonConnection { get }

  /// Reported to the client; nil if it was removed.
  func reportedTag(_ placement: UInt64) -> TagActivation?

  /// Selects a reported tag, unless it is selected, and calls `DaemonConnection.perform`.
  func operate(_ request: DaemonConnection.Request, on tag: TagActivation) throws(Interruption) -> SessionOutcome

  /// Takes the tag's power for a moment. Nil if the tag is selected, in its initial state.
  func selectAnew(_ tag: TagActivation, _ placement: UInt64) throws(Interruption) -> SessionOutcome?

  /// The tag no longer answers. It is new when it is found again.
  func loseTag(_ placement: UInt64) throws(Interruption)
}

/// The outcome of an operation on a tag.
package enum SessionOutcome {
  case result(ReaderOperationResult)
  /// The tag gave no valid answer, for this reason.
  case silence(String)
  /// The tag was removed.
  case removed
  /// The reader session has ended. The daemon expects no result.
  case over
}

extension SessionServer {
  package func perform(_ request: DaemonConnection.Request) throws(Interruption) {
    var outcome = SessionOutcome.removed
    let tag = reportedTag(request.placement)
    if let tag, let refusal = request.operation.refusal(for: tag) {
      outcome = .result(refusal)
    } else if let tag {
      outcome = try operate(request, on: tag)
      // The tag has refused the command or is gone. Only a tag that is gone ends its placement.
      if case .silence(let reason) = outcome {
        outcome = try selectAnew(tag, request.placement) ?? .result(.failed(.timeout, reason: reason))
      }
    }
    switch outcome {
    case .result(let result): try daemon.report(.performed(request: request.number, result))
    case .removed:
      try daemon.report(.performed(request: request.number, .failed(.tagLost, reason: "the tag was removed")))
      if tag != nil { try loseTag(request.placement) }
    case .silence, .over: break
    }
  }
}

/// The channel to the selected tag of a reader session.
package protocol SessionChannel: TagChannel {
  /// With its latest activation.
  var tag: TagActivation { get }

  /// As it is. Fails if the tag takes longer than `timeout` to answer.
  mutating func transceive(_ command: [UInt8], within timeout: Duration) throws(TagChannelError) -> [UInt8]
}

extension DaemonConnection {
  /// On the selected tag. `application` is selected before a raw command.
  package func perform(
    _ request: Request, selecting application: [UInt8]?, over channel: inout some SessionChannel
  ) throws(TagChannelError) -> ReaderOperationResult {
    let operation = request.operation
    if case .transceive(let command, let timeout) = operation {
      if let application, try !channel.select(application) {
        return .failed(.refused, reason: "the card no longer accepts the SELECT of its application")
      }
      let answer = try channel.transceive(command, within: .milliseconds(Int64(timeout)))
      return .answer(Array(answer.prefix(ReaderLimits.answer)))
    }
    let timed = TimedChannel(channel, until: .now + ReaderTiming.operation)
    // A failed report is ignored, because the next exchange notices that the daemon is gone.
    var measured = ProgressChannel(timed, channel.tag.type, counts: operation.isReading ? .reading : .writing) {
      bytes in
      try? self.report(.progress(request: request.number, bytes: bytes))
    }
    defer { channel = measured.channel.channel }
    return operation == .read
      ? try ReaderOperation.read(over: &measured) { $0.channel.channel.tag }
      : try operation.perform(on: channel.tag, over: &measured)
  }
}

/// The state of a reader session that does not depend on the reader.
package struct TagSession {
  /// As at the start of the session.
  package let options: TagSessionOptions
  /// The options since the last restart of polling: a part of `options`.
  package var polled: TagSessionOptions
  /// Needed before the selected card gets a raw command.
  package var applicationIsDue = false
  /// The selected tag has refused the last command, and may ignore the next one.
  package var isOutOfStep = false

  package init(_ options: TagSessionOptions) { (self.options, polled) = (options, options) }

  /// `examine` sends commands to this tag.
  package func searches(_ tag: TagActivation) -> Bool {
    tag.isISODEP && tag.isProper && !polled.applicationIdentifiers.isEmpty
  }

  /// Selects the first of the session's applications that a new card has. Nil if the client does not want the tag.
  package mutating func examine(
    _ tag: TagActivation, _ number: UInt64, over channel: inout some TagChannel, _ daemon: DaemonConnection
  ) throws(TagChannelError) -> SessionTag? {
    var application: Int?
    if searches(tag) {
      do throws(TagChannelError) {
        // The daemon gets the tag's identity first, in case the tag makes this process fail.
        do throws(Interruption) { try daemon.report(.examining(Placement(number, tag))) } catch {
          throw TagChannelError(.aborted, "the daemon is gone")
        }
        for identifier in polled.applicationIdentifiers where try channel.select(identifier) {
          application = options.applicationIdentifiers.firstIndex(of: identifier)
          break
        }
      } catch {
        try? daemon.report(.removed(placement: number))
        throw error
      }
      // The refused SELECTs may have changed the card's state, so the next operation selects the card again.
      if application == nil { isOutOfStep = true }
    }
    let isDeclared = application != nil || !tag.isISODEP || polled.applicationIdentifiers.isEmpty
    guard isDeclared || polled.reportsUndeclaredCards else {
      if searches(tag) { try? daemon.report(.removed(placement: number)) }
      return nil
    }
    applicationIsDue = false
    return tag.sessionTag(number, application: application)
  }

  /// To be selected before the operation.
  package mutating func application(for operation: ReaderOperation, on tag: SessionTag?) -> [UInt8]? {
    defer { applicationIsDue = !operation.isTransceive }
    guard operation.isTransceive, applicationIsDue, let index = tag?.initialApplication,
      options.applicationIdentifiers.indices.contains(index)
    else { return nil }
    return options.applicationIdentifiers[index]
  }
}

extension TagChannel {
  /// By its name (ISO/IEC 7816-4, 11.2.2). Returns whether the card accepts.
  fileprivate mutating func select(_ application: [UInt8]) throws(TagChannelError) -> Bool {
    let header: [UInt8] = [0x00, 0xA4, 0x04, 0x00, UInt8(truncatingIfNeeded: application.count)]
    return try exchange(header + application + [0x00]).suffix(2) == [0x90, 0x00]
  }
}

extension ReaderOperation {
  package var isTransceive: Bool { if case .transceive = self { true } else { false } }

  /// Leaves the tag as it is.
  package var isReading: Bool { self == .read || self == .query }
}
