import PN53x
import ReaderModels
import Tags

/// Type 1 on a reader with one instruction for each command (Identiv, uTrust 3700 F reference manual). The reader adds
/// the UID. Its answers begin with the data; the address in front, which `TagChannel` has, is added here.
extension CardLink {
  mutating func exchangeType1(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
    if model.type1 == .pn532 { return try exchange(command, with: Type1Framing()) }
    guard model.type1 == .identiv, let request = Type1Request(command) else {
      throw TagChannelError(.unsupported, "this reader does not pass on this command of Type 1")
    }
    let data = try fetch(request.apdu)
    guard let size = request.answerSize else { return data }
    if data.count == size { return [request.operand] + data }
    guard data.count == size + 1, data.first == request.operand else {
      throw TagChannelError(.transmission, "the answer has \(data.count) bytes instead of \(size)")
    }
    return data
  }
}

/// A command of a Type 1 tag as a pseudo-APDU.
struct Type1Request {
  let apdu: PseudoAPDU
  /// An address, block or segment.
  let operand: UInt8
  /// Nil for an answer without an address.
  let answerSize: Int?

  /// Code, block, data and UID.
  private static let mostBytes = 14

  /// Nil if there is no such pseudo-APDU. The command has the form of `TagChannel`: code, address, data, UID.
  init?(_ command: [UInt8]) {
    guard let code = command.first, command.count <= Self.mostBytes else { return nil }
    operand = command.count > 1 ? command[1] : 0
    let byte = Array(command.dropFirst(2).prefix(1))
    let block = Array(command.dropFirst(2).prefix(8))
    switch (code, command.count) {
    case (0x78, _): (apdu, answerSize) = (PseudoAPDU(0x50, expected: 0), nil)
    case (0x00, _): (apdu, answerSize) = (PseudoAPDU(0x52, expected: 0), nil)
    case (0x01, 2...): (apdu, answerSize) = (PseudoAPDU(0x54, 0, operand, expected: 0), 1)
    case (0x53, 3...): (apdu, answerSize) = (PseudoAPDU(0x56, 0, operand, data: byte), 1)
    case (0x1A, 3...): (apdu, answerSize) = (PseudoAPDU(0x58, 0, operand, data: byte), 1)
    case (0x10, 2...): (apdu, answerSize) = (PseudoAPDU(0x5A, 0, operand, expected: 0), 128)
    case (0x02, 2...): (apdu, answerSize) = (PseudoAPDU(0x5C, 0, operand, expected: 0), 8)
    case (0x54, 10...): (apdu, answerSize) = (PseudoAPDU(0x5E, 0, operand, data: block), 8)
    case (0x1B, 10...): (apdu, answerSize) = (PseudoAPDU(0x60, 0, operand, data: block), 8)
    default: return nil
    }
  }
}

/// Type 2. Every reader reads and writes pages. For other commands, it has to pass on raw frames.
extension CardLink {
  private static var read: UInt8 { 0x30 }
  private static var write: UInt8 { 0xA2 }
  private static var pageSize: Int { 4 }
  private static var readSize: Int { 16 }
  /// READ and WRITE take at most 5 ms, and the cryptography of an NTAG about 20 ms.
  private static var usualTime: UInt32 { 50_000 }
  /// A tag refuses a sector within 1 ms.
  private static var passiveTime: UInt32 { 5_000 }

  mutating func exchangeType2(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
    if model.rawFrames == .pn532 { return try exchange(command, with: Type2Framing()) }
    // A reader with an open session need not take other pseudo-APDUs.
    if case .open = transparentSession { return try transceiveType2(command) }
    switch (command.first, command.count) {
    case (Self.read, 2): return try readPages(from: Int(command[1]))
    case (Self.write, 6):
      try fetch(.update(Int(command[1]), Array(command[2...])))
      return [Type2Framing.acknowledgement]
    default: break
    }
    switch model.rawFrames {
    case .transparent: return try transceiveType2(command)
    case .springCard where !Type2Framing.isAcknowledged(command):
      return try fetch(PseudoAPDU(0xFE, 0x01, 0x08, data: command))
    default: throw TagChannelError(.unsupported, "this reader does not pass on raw commands")
    }
  }

  /// As READ returns them. A reader may return fewer at once.
  private mutating func readPages(from page: Int) throws(TagChannelError) -> [UInt8] {
    var bytes = try fetch(.read(page, UInt8(Self.readSize)))
    while bytes.count < Self.readSize {
      guard !bytes.isEmpty, bytes.count % Self.pageSize == 0 else {
        throw TagChannelError(.transmission, "the reader returned \(bytes.count) bytes, which are no pages")
      }
      // As the tag itself does, start over behind the last page.
      let next = (page + bytes.count / Self.pageSize) & 0xFF
      let more = try fetch(.read(next, UInt8(Self.pageSize)))
      guard more.count >= Self.pageSize else {
        throw TagChannelError(.transmission, "the reader returned \(more.count) bytes of page \(next)")
      }
      bytes += more.prefix(Self.pageSize)
    }
    return Array(bytes.prefix(Self.readSize))
  }

  private mutating func transceiveType2(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
    let isPassive = Type2Framing.isConfirmedBySilence(command)
    return try transceive(
      command, .typeA, checksAnswer: !isPassive && !Type2Framing.isAcknowledged(command),
      within: isPassive ? Self.passiveTime : Self.usualTime)
  }
}

/// MIFARE Classic. The reader holds the keys and does the cipher.
extension CardLink {
  private static var blockSize: UInt8 { 16 }
  /// In the memory that loses its contents without power, and in the other one, which OMNIKEY readers require.
  private static var keyStructures: [UInt8] { [0x00, 0x20] }
  private static var authenticationSize: Int { 12 }

  mutating func exchangeMIFAREClassic(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
    if model.classic == .pn532 { return try exchange(command, with: MIFAREClassicFraming()) }
    switch (command.first, command.count) {
    case (let slot?, Self.authenticationSize) where slot == 0x60 || slot == 0x61:
      do throws(TagChannelError) {
        try authenticate(command[1], slot: slot, Array(command[2..<8]))
      } catch {
        // If the exchange with the reader has failed, the tag has not refused the key by its silence.
        guard failure != nil, error.code == .noAnswer else { throw error }
        throw TagChannelError(.transmission, error.reason)
      }
      return []
    case (0x30, 2):
      let data = try fetch(.read(Int(command[1]), Self.blockSize))
      guard data.count >= Int(Self.blockSize) else {
        throw TagChannelError(.transmission, "the reader returned \(data.count) bytes of block \(command[1])")
      }
      return Array(data.prefix(Int(Self.blockSize)))
    case (0xA0, 18):
      try fetch(.update(Int(command[1]), Array(command[2...])))
      return []
    default: throw TagChannelError(.unsupported, "this reader only opens sectors, and reads and writes blocks")
    }
  }

  private mutating func authenticate(_ block: UInt8, slot: UInt8, _ key: [UInt8]) throws(TagChannelError) {
    let place = try load(key, slot)
    // Identiv's command takes the place from the slot, and has 01 there.
    let number = model.classic == .keysBySlot ? 0x01 : place
    var answer = try ask(.authenticate(block, slot: slot, number: number))
    if answer.status.isUnknownForm {
      answer = try transmit(PseudoAPDU.authenticateInOldForm(block, slot: slot, number: number))
    }
    guard answer.status.isSuccess else { throw answer.status.error }
  }

  /// If the key is not there yet. Returns its place.
  private mutating func load(_ key: [UInt8], _ slot: UInt8) throws(TagChannelError) -> UInt8 {
    let places: [UInt8] =
      switch model.classic {
      case .keysBySlot: [slot]
      case .keysInTwoRows: slot == 0x60 ? [0x00, 0x01] : [0x10, 0x11]
      case .keys, .pn532: [0x00, 0x01]
      }
    if let place = places.first(where: { loadedKeys[$0] == key }) { return place }
    let place = places[nextKeySlot % places.count]
    loadedKeys[place] = nil
    var status = StatusWord.success
    for structure in Self.keyStructures {
      status = try ask(.loadKey(key, place, structure: structure)).status
      guard !status.isSuccess else {
        loadedKeys[place] = key
        nextKeySlot += 1
        return place
      }
    }
    // The key goes to the reader alone, so the refusal is not the tag's.
    throw TagChannelError(.unsupported, "this reader does not take keys for MIFARE Classic (\(status))")
  }
}

extension StatusWord {
  /// The reader may know the command in another form.
  fileprivate var isUnknownForm: Bool {
    isUnknownCommand || [StatusWord(0x67, 0x00), StatusWord(0x6A, 0x81), StatusWord(0x6B, 0x00)].contains(self)
  }
}
