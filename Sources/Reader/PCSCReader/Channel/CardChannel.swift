import Names
import ReaderModels
import Tags

/// The commands of a tag through a PC/SC reader: each is mapped to what the model of the reader can do.
///
/// After it, the reader may be in a transparent session, in which it does not look for cards. Send
/// `TransparentSession.endCommand` before the connection ends.
struct CardChannel<Connection: CardConnection>: TagChannel {
  var link: CardLink<Connection>
  /// As found, or as it is after the last reselection: its identifier may be random.
  private(set) var tag: TagActivation
  private(set) var exchanges = 0

  /// `CardLink.identify` has found the tag.
  init(_ link: CardLink<Connection>, tag: TagActivation) {
    self.link = link
    self.tag = tag
  }

  /// Nil if the last transmission succeeded.
  var failure: CardFailure? { link.failure }

  /// Fails with `unsupported`, without a transmission, if the model cannot send the command. That includes any APDU of
  /// class FF.
  mutating func exchange(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
    exchanges += 1
    let command = withoutAddress(command)
    if let obstacle = link.model.obstacle(to: command, for: tag.type, takesExtendedAPDUs: link.takesExtendedAPDUs) {
      throw TagChannelError(.unsupported, obstacle)
    }
    switch tag.type {
    case .type1: return try link.exchangeType1(command)
    case .type2: return try link.exchangeType2(command)
    case .type3: return try link.exchangeType3(command)
    case .type4A, .type4B: return try link.exchangeType4(command)
    case .type5: return try link.exchangeType5(command)
    case .mifareClassic: return try link.exchangeMIFAREClassic(command)
    case .peer: throw TagChannelError(.unsupported, "this reader cannot talk to another device")
    }
  }

  /// Takes the card's power and restores it, and checks that it is the same card.
  mutating func reselect() throws(TagChannelError) {
    exchanges += 1
    try link.reset()
    guard try isSameTag() else { throw TagChannelError(.noAnswer, "the tag was removed") }
  }

  /// Asks the card for its identifier.
  mutating func isSameTag() throws(TagChannelError) -> Bool {
    // A reader with an open session need not take other pseudo-APDUs.
    link.endSession()
    guard let now = try link.identifyAgain(tag) else { return false }
    tag = now
    return true
  }

  /// False also if another command does the same with less risk.
  func canSend(_ command: [UInt8]) -> Bool {
    let model = link.model
    let command = withoutAddress(command)
    guard model.obstacle(to: command, for: tag.type, takesExtendedAPDUs: link.takesExtendedAPDUs) == nil,
      !model.isBetterAvoided(command, for: tag.type)
    else { return false }
    return link.transparentSession != .refused || !model.needsSession(command, for: tag.type)
  }

  /// If the reader itself addresses the tag, removes the UID of this tag from a request of ISO/IEC 15693-3 (7.3.1: the
  /// address flag, and the UID in reverse order). Other commands are returned as they are.
  private func withoutAddress(_ command: [UInt8]) -> [UInt8] {
    guard case .blocks = link.model.type5, tag.type == .type5, command.count >= 10, command[0] & ~0x40 == 0x22,
      command[2..<10].elementsEqual(tag.identifier.reversed())
    else { return command }
    return [command[0] & ~0x20, command[1]] + command[10...]
  }
}

/// A connection to one card through a PC/SC reader.
protocol CardConnection {
  /// The answer includes its status word and is unchecked: it may have any content, and up to 65,538 bytes.
  mutating func transmit(_ command: [UInt8]) throws(CardFailure) -> [UInt8]

  /// Takes the card's power, so that the card is in its initial state: SCardReconnect with SCARD_UNPOWER_CARD.
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
