import Tags

/// Why the work on a card cannot go on as planned.
enum Setback: Error {
  /// The goal has changed, or the process ends.
  case interrupted
  /// The card was removed, or an exchange with it failed. pcscd may report a removal soon.
  case failed(String)
  /// Another card answers. pcscd may report the change soon.
  case replaced
  /// Another program has reset the card.
  case reset
  /// Another program has the card exclusively.
  case refused
  /// The card gets no power.
  case mute
  /// The reader or pcscd is gone.
  case readerGone

  init(_ failure: CardReader.CallFailure) {
    switch failure {
    case .aborted: self = .interrupted
    case .late: self = .failed(CardFailure(failure).channelError.reason)
    case .pcscd(.sharingViolation): self = .refused
    case .pcscd(let error): self = error.isMute ? .mute : Setback(CardFailure(error))
    }
  }

  init(_ failure: CardFailure) {
    switch failure {
    case .removed, .exchange: self = .failed(failure.channelError.reason)
    case .reset: self = .reset
    case .readerGone: self = .readerGone
    case .aborted: self = .interrupted
    }
  }

  /// What to tell the user, as the end of a sentence.
  var reason: String {
    switch self {
    case .interrupted: "the work was interrupted"
    case .failed(let reason): reason
    case .replaced: "another tag answers in its place; put only one tag on the reader"
    case .reset: PCSCError.resetCard.description
    case .refused: PCSCError.sharingViolation.description
    case .mute: PCSCError.unresponsiveCard.description
    case .readerGone: "the reader was removed or stopped working"
    }
  }
}
