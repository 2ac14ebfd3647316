/// A card with one application that is selected by its name (ISO/IEC 7816-4), and without NDEF: a loyalty card, for
/// example.
///
/// It supports SELECT, GET DATA of the object 0101 (its name), and the proprietary command 80 10, which returns the
/// data of the command. Lengths may be short or extended.
struct SelectableApplication: CardApplication {
  /// F0 for an unregistered provider, and a name.
  static let usualName: [UInt8] = [0xF0] + Array("TAGROUTE".utf8)

  let name: [UInt8]
  private var isSelected = false

  var memory: [UInt8] { name }
  var writeTear: WriteTear?

  init(name: [UInt8]) { self.name = name }

  mutating func deselect() { isSelected = false }

  mutating func respond(to bytes: [UInt8]) -> [UInt8] {
    guard let command = CommandAPDU(bytes) else { return [0x67, 0x00] }
    switch (command.instructionClass, command.instruction) {
    case (0x00, 0xA4) where command.parameter1 == 0x04:
      isSelected = command.data == name
      return isSelected ? [0x90, 0x00] : [0x6A, 0x82]
    case (0x00, 0xCA) where isSelected:
      return command.parameter1 == 0x01 && command.parameter2 == 0x01 ? name + [0x90, 0x00] : [0x6A, 0x88]
    case (0x80, 0x10) where isSelected:
      guard command.data.count <= command.expectedLength ?? 0 else { return [0x67, 0x00] }
      return command.data + [0x90, 0x00]
    case (0x00, 0xCA), (0x80, 0x10): return [0x69, 0x85]
    default: return [0x6D, 0x00]
    }
  }
}

extension SimulatedTag {
  /// A card with one application, which is selected by its name: 5 to 16 bytes, by default F0 and "TAGROUTE" in ASCII.
  /// Of the options, it uses the answer to select, and how often the card asks for more time.
  package static func applicationCard(
    _ name: [UInt8]? = nil, uid: TagUID = .generated(), options: Type4Options = Type4Options()
  ) -> SimulatedTag {
    cardA(SelectableApplication(name: name ?? SelectableApplication.usualName), uid, options)
  }
}
