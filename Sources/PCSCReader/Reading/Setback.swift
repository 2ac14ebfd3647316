import Framing
import Tags

/// Why the work on a card cannot go on as planned.
enum Setback: Error {
  /// The goal has changed, or the process ends.
  case interrupted
  /// The card was removed, or an exchange with it failed. pcscd may report a removal soon.
  case failed(String)
  /// Another program has reset the card.
  case reset
  /// Another program has the card exclusively.
  case refused
  /// polkit does not allow the access to the card.
  case forbidden
  /// The card gets no power.
  case mute
  /// The reader or pcscd is gone.
  case readerGone

  init(_ failure: CardReader.CallFailure) {
    switch failure {
    case .aborted: self = .interrupted
    case .late: self = .failed(CardFailure(failure).channelError.reason)
    case .pcscd(.sharingViolation): self = .refused
    case .pcscd(.securityViolation): self = .forbidden
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
}
