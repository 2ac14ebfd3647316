/// Cards that the reader reports as others after this process has taken their power.
extension CardReader {
  /// Waits until the card in use has left the slot and one is back. It may be another one, so identify it. The connection
  /// ends then. Returns false if none has come until this time.
  func awaitReturn(until end: SuspendingClock.Instant) throws(CallFailure) -> Bool {
    while !isBack {
      guard SuspendingClock.now <= end else { return false }
      try pause(.milliseconds(20))
    }
    disconnect()
    if let card = slot.card {
      cardInUse = card.serial
      session?.follow(card.serial)
    }
    return true
  }

  private var isBack: Bool { slot.hasReturned || slot.card.map { $0.serial != cardInUse } ?? false }

  /// Whether a call for the session's card has failed, or its card has left the slot, only because this process had taken
  /// its power. A card is back then, and the next operation has to identify it.
  func hasReturnedInSession() throws(CallFailure) -> Bool {
    guard let end = session?.mayReturnUntil, SuspendingClock.now <= end else { return false }
    guard try isRemoved(), try awaitReturn(until: end) else { return false }
    renewsCards = true
    session?.channel = nil
    return true
  }
}
