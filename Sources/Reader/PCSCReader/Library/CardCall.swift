/// A call to pcscd that concerns a card and may block. `CardThread` makes it.
enum CardCall: Sendable {
  /// Connect to the card in the reader, shared with other programs, and begin a transaction.
  case open(ReaderName)
  /// Connect to the reader itself, for control codes and attributes alone. The card gets no power and no transaction.
  case openReader(ReaderName)
  /// Send a command to the card. The result is its answer.
  case transmit([UInt8])
  /// Send a command to the driver. The result is its answer.
  case control(UInt32, [UInt8])
  /// Ask for an attribute of the reader or of the connection to the card.
  case attribute(UInt32)
  /// Take the card's power for a moment. It is then in its initial state. The transaction goes on.
  case reset
  /// End the transaction and the connection.
  case close(CardDisposition)

  /// Whether pcscd makes the call wait while another program has a transaction with the card.
  var waitsForOthers: Bool {
    switch self {
    case .open, .openReader: true
    case .transmit, .control, .attribute, .reset, .close: false
    }
  }
}

/// What happens to the card when the connection ends.
enum CardDisposition: Sendable {
  /// The card stays as it is.
  case leave
  /// The card loses its power for a moment, because it may still work on a command.
  case reset
}
