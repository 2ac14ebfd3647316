import PN53x
import ReaderModels
import Tags

/// MIFARE Classic. The reader holds the keys and does the cipher.
extension CardLink {
  private static var readSize: UInt8 { 16 }
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
      let data = try fetch(.read(Int(command[1]), Self.readSize))
      guard data.count >= Int(Self.readSize) else {
        throw TagChannelError(.transmission, "the reader returned \(data.count) bytes of block \(command[1])")
      }
      return Array(data.prefix(Int(Self.readSize)))
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

  /// Loads a key into the reader, unless it is there. Returns its place.
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
  /// Whether the reader may know the command in another form.
  fileprivate var isUnknownForm: Bool {
    isUnknownCommand || [StatusWord(0x67, 0x00), StatusWord(0x6A, 0x81), StatusWord(0x6B, 0x00)].contains(self)
  }
}
