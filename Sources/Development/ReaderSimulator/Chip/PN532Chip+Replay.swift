import Names

/// Answers of a recorded chip in place of those of the simulated one.
extension PN532Chip {
  /// Errors of libnfc (nfc.h), and the status byte that makes libnfc report each (pn53x.c, `pn53x_transceive`).
  private static let statuses: [Int64: UInt8] = [
    // NFC_EINVARG: invalid parameter.
    -2: 0x10,
    // NFC_ETGRELEASED.
    -10: PN532Status.targetGone,
    // NFC_ERFTRANS.
    -20: PN532Status.timeout,
    // NFC_EMFCAUTHFAIL.
    -30: PN532Status.authenticationError,
    // NFC_ECHIP: a buffer is too small.
    -90: 0x07,
  ]
  /// NFC_ETIMEOUT.
  private static let noAnswer: Int64 = -6

  /// What the recorded chip did after a command, or `own` if it never got it. The simulated chip has executed the command
  /// in any case, so that the two can take turns.
  mutating func replay(_ command: [UInt8], insteadOf own: Outcome) -> Outcome {
    // libnfc asks for the rest of a long answer with the number of the target alone.
    if !replayedRest.isEmpty, command.count == 2, command[0] == PN532Command.inDataExchange.rawValue {
      return nextReplayedPiece()
    }
    replayedRest = []
    guard let exchange = recording?.answer(to: .chip(command)) else { return own }
    recordedTime = recording?.takeTime()
    if let answer = exchange.answer {
      guard command.first == PN532Command.inDataExchange.rawValue, answer.count > Self.maximumAnswerData + 1 else {
        return .answer(answer)
      }
      replayedRest = Array(answer.dropFirst())
      return nextReplayedPiece()
    }
    let result = exchange.result ?? Self.noAnswer
    if result == Self.noAnswer { return .wait(.forever) }
    // Other errors come from a frame that libnfc does not take for an answer.
    guard let status = Self.statuses[result], hasStatus(command) else { return .refuse }
    return .answer([status])
  }

  private mutating func nextReplayedPiece() -> Outcome {
    let piece = replayedRest.prefix(Self.maximumAnswerData)
    replayedRest.removeFirst(piece.count)
    return .answer([replayedRest.isEmpty ? PN532Status.success : PN532Status.moreInformation] + piece)
  }

  /// Whether libnfc examines the first byte of the answer.
  private func hasStatus(_ command: [UInt8]) -> Bool {
    guard let code = command.first.flatMap(PN532Command.init) else { return false }
    return code.answersWithStatus || code == .diagnose && command.dropFirst().first == 0x06
  }
}
