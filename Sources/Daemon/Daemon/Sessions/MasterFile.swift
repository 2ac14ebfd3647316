/// PACE on the master file of a passport or an identity card (ICAO Doc 9303-11, 4.4, and BSI TR-03110-3, B.1): the card
/// wants it before an application can be selected.
enum MasterFile: Sendable, Hashable {
  /// It is not selected. A SELECT of the master file leads to `selected`.
  case left
  /// Only the commands of PACE are sent. Its last one leads to `authenticated`. The SELECT of a declared application
  /// by its name leads to `left`.
  case selected
  /// PACE is done. A SELECT by an encrypted name leads to `left`, too.
  case authenticated

  /// EF.CardAccess and EF.CardSecurity, which describe PACE, and EF.ATR/INFO, which limits the length of commands.
  static let files: [[UInt8]] = [[0x01, 0x1C], [0x01, 0x1D], [0x2F, 0x01]]
  /// Their short identifiers.
  private static let shortIdentifiers: [UInt8] = [0x1C, 0x1D, 0x01]

  /// Whether a command is one of PACE: READ BINARY of these files, MANAGE SECURITY ENVIRONMENT, GENERAL AUTHENTICATE or
  /// GET RESPONSE; or a SELECT, which the policy checks further.
  func allows(_ command: CommandAPDU) -> Bool {
    switch (self, command.ins) {
    case (.left, _): true
    case (_, 0xA4):
      command.p1 == 0x04 || command.selectsMasterFile || command.isSecured || Self.files.contains(command.data)
    case (_, 0xB0): command.p1 & 0x80 == 0 || Self.shortIdentifiers.contains(command.p1 & 0x1F)
    case (_, 0x22), (_, 0x86), (_, 0xC0): true
    default: false
    }
  }

  /// Whether a command is the SELECT of an application by its encrypted name (ISO/IEC 7816-4, 10.2): a cryptogram with
  /// tag 87 comes first. To a card that ignores the class, these bytes are a name that no application has.
  func allowsEncryptedName(of command: CommandAPDU) -> Bool {
    self == .authenticated && command.p1 == 0x04 && command.isSecured && command.data.first == 0x87
  }

  /// Takes over the answer to a command.
  mutating func learn(_ answer: [UInt8], to command: CommandAPDU) {
    guard CommandAPDU.isCarriedOut(answer) else { return }
    switch command.ins {
    case 0xA4 where command.selectsMasterFile: self = .selected
    case 0xA4 where command.p1 == 0x04: self = .left
    // GENERAL AUTHENTICATE, the last of its chain.
    case 0x86 where !command.isChained && self == .selected: self = .authenticated
    default: break
    }
  }

  /// The card may have been selected again since PACE.
  mutating func doubt() { if self == .authenticated { self = .selected } }
}
