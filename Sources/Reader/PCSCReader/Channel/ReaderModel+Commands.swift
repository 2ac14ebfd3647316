import Names
import PN53x
import ReaderModels

/// Which commands of tags a model can send.
extension ReaderModel {
  /// In bytes, through the commands of a PN532.
  private static let mostForPN532 = 250
  /// Header, Lc, 255 bytes, Le.
  private static let mostForShortAPDU = 261
  /// Header, Lc of three bytes, 65,535 bytes, Le of two bytes.
  private static let mostForExtendedAPDU = 65_544
  /// How many blocks of a Type 5 tag are read at once. With more, the answer and its data objects may not fit into that
  /// of a short APDU.
  private static let mostBlocks = 32

  /// The end of a sentence; nil if the command, in the form of `TagChannel`, can be sent.
  func obstacle(to command: [UInt8], for type: TagType, takesExtendedAPDUs: Bool = false) -> String? {
    guard let code = command.first else { return "the command is empty" }
    return switch type {
    case .type1: obstacleForType1(command)
    case .type2: obstacleForType2(command, code)
    case .type3: obstacleForType3(command)
    case .type4A, .type4B: Self.obstacleForAPDU(command, takesExtendedAPDUs)
    case .type5: obstacleForType5(command)
    case .mifareClassic: obstacleForClassic(command, code)
    case .peer: "this reader cannot talk to another device"
    }
  }

  /// Another command does the same with less risk.
  ///
  /// A transparent session is not needed to read pages. While it is open, the reader does not notice a removal, and at
  /// its end the reader may report the card as new. And a long answer of a Type 5 tag may not fit.
  func isBetterAvoided(_ command: [UInt8], for type: TagType) -> Bool {
    switch type {
    case .type2: rawFrames == .transparent && command.first == 0x3A
    case .type5: command.count > 3 && command[1] & ~0x10 == 0x23 && Self.blocks(of: command) > Self.mostBlocks
    default: false
    }
  }

  /// Only a transparent session takes the command.
  func needsSession(_ command: [UInt8], for type: TagType) -> Bool {
    switch type {
    case .type2: rawFrames == .transparent && !Self.isReadOrWrite(command)
    case .type3: feliCa == [.transparent]
    default: false
    }
  }

  // MARK: Types

  private func obstacleForType1(_ command: [UInt8]) -> String? {
    switch type1 {
    case .none: "this reader cannot send commands to Type 1 tags"
    case .pn532: command.count > Self.mostForPN532 ? Self.tooLong : nil
    case .identiv: Type1Request(command) == nil ? "this reader does not know this command of Type 1 tags" : nil
    }
  }

  private static func isReadOrWrite(_ command: [UInt8]) -> Bool {
    command.count == 2 && command[0] == 0x30 || command.count == 6 && command[0] == 0xA2
  }

  private func obstacleForType2(_ command: [UInt8], _ code: UInt8) -> String? {
    if rawFrames == .pn532 { return command.count > Self.mostForPN532 ? Self.tooLong : nil }
    if Self.isReadOrWrite(command) {
      return command[1] > lastType2Page ? "this reader cannot go beyond page \(lastType2Page) of a tag" : nil
    }
    switch rawFrames {
    case .transparent: return command.count > TransparentSession.mostBytes ? Self.tooLong : nil
    case .springCard where !Type2Framing.isAcknowledged(command) && !Type2Framing.isConfirmedBySilence(command):
      return command.count > TransparentSession.mostBytes ? Self.tooLong : nil
    default: return "this reader can only read and write pages of Type 2 tags"
    }
  }

  private func obstacleForType3(_ command: [UInt8]) -> String? {
    guard !feliCa.isEmpty else { return "this reader cannot send commands to FeliCa cards" }
    guard command.count <= TransparentSession.mostBytes else { return Self.tooLong }
    if canPoll || command[0] == 0x00 { return nil }
    guard let request = FeliCaRequest(command), feliCa.contains(.identiv) || request.services.count == 1 else {
      return "this reader only reads and writes blocks of FeliCa cards"
    }
    return nil
  }

  private func obstacleForType5(_ command: [UInt8]) -> String? {
    switch type5 {
    case .none: return "this reader cannot send requests to Type 5 tags"
    case .blocks(let lock):
      guard let request = Type5Request(command), command.count <= TransparentSession.mostBytes else { break }
      if lock == .springCard, case .lock = request.kind, request.block > 0xFF { break }
      return nil
    case .acr1552, .identiv: return command.count > TransparentSession.mostBytes ? Self.tooLong : nil
    }
    return "this reader can only read, write and lock single blocks of Type 5 tags"
  }

  private func obstacleForClassic(_ command: [UInt8], _ code: UInt8) -> String? {
    if classic == .pn532 { return command.count > Self.mostForPN532 ? Self.tooLong : nil }
    return switch (code, command.count) {
    case (0x60, 12), (0x61, 12), (0x30, 2), (0xA0, 18): nil
    default: "this reader only opens sectors, and reads and writes blocks"
    }
  }

  // MARK: APDUs

  /// A command of class FF is for the reader, and would write to tags, load keys or change its settings.
  private static func obstacleForAPDU(_ command: [UInt8], _ takesExtended: Bool) -> String? {
    guard command.first != PseudoAPDU.classByte else {
      return "commands of class FF are for the reader, not for the card"
    }
    guard command.count >= 4 else { return "a command APDU has at least four bytes" }
    guard command.count >= 7, command[4] == 0 else { return command.count > mostForShortAPDU ? tooLong : nil }
    guard takesExtended else { return "this reader does not take extended APDUs" }
    return command.count > mostForExtendedAPDU ? tooLong : nil
  }

  private static let tooLong = "the command is too long for this reader"

  /// Of READ MULTIPLE BLOCKS.
  private static func blocks(of command: [UInt8]) -> Int {
    let count = command.dropFirst(command[1] & 0x10 == 0 ? 3 : 4)
    return 1 + count.prefix(2).reversed().reduce(0) { $0 << 8 | Int($1) }
  }
}

extension ReaderModel {
  /// Switches on the reader's own polling for every kind of card (ACR122U API 2.04, 6.5); nil if the model has no such
  /// command.
  var pollingCommand: [UInt8]? { hasSwitchForPolling ? PseudoAPDU(0x00, 0x51, 0xFF, expected: 0).bytes : nil }

  /// Try them in this order until the reader accepts one. Empty if the model has no means.
  func commands(for feedback: Feedback) -> [Feedback.Command] {
    switch self.feedback {
    case .none: []
    case .lightAndBuzzer: [.apdu(feedback.lightAndBuzzer)]
    case .lightOrBuzzer: [.apdu(feedback.lightAndBuzzer), .escape(feedback.buzzer)]
    case .buzzer: [.escape(feedback.buzzer)]
    case .buzzerWithPause: [.escape(feedback.buzzerWithPause)]
    }
  }
}

extension Feedback {
  /// Bits of P2, in pairs for red and green, from bit 0 on: the final state, whether it changes, the first state,
  /// whether it blinks. The data are the two parts of a blink in units of 100 ms, the number of blinks, and when to
  /// beep: 01 is the first part.
  fileprivate var lightAndBuzzer: [UInt8] {
    switch self {
    case .success: PseudoAPDU(0x00, 0x40, 0b1010_1110, data: [0x01, 0x00, 0x01, 0x01]).bytes
    case .failure: PseudoAPDU(0x00, 0x40, 0b0101_0100, data: [0x01, 0x01, 0x02, 0x01]).bytes
    }
  }

  /// In units of 10 ms.
  fileprivate var buzzer: [UInt8] { [0xE0, 0x00, 0x00, 0x28, 0x01, self == .success ? 10 : 40] }

  fileprivate var buzzerWithPause: [UInt8] { [0xE0, 0x00, 0x00, 0x28, 0x03, 10, 10, self == .success ? 1 : 2] }
}
