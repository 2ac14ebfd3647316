/// A connection to one card through a PC/SC reader.
protocol CardConnection {
  /// Sends an APDU. Returns the answer with its status word, unchecked: it may have any content, and up to 65,538 bytes.
  mutating func transmit(_ command: [UInt8]) throws(CardFailure) -> [UInt8]

  /// Takes the card's power and restores it, so that the card is in its initial state: SCardReconnect with
  /// SCARD_UNPOWER_CARD.
  mutating func reset() throws(CardFailure)
}

/// Why a connection to a card failed.
enum CardFailure: Error, Sendable, Hashable {
  /// The card was removed.
  case removed
  /// Another program has reset the card. Its state is lost, so the operation has to start again.
  case reset
  /// The reader did not complete the exchange. This is often the first sign of a removal.
  case exchange(String)
  /// The reader or pcscd is gone.
  case readerGone(String)
  /// The reader process aborted the exchange.
  case aborted
}
