/// A card for personal identity verification without keys (NIST SP 800-73-4, part 1), enough for OpenSC to know it.
struct PIVApplication: CardApplication {
  /// The name of the application, with its version.
  static let name: [UInt8] = [0xA0, 0x00, 0x00, 0x03, 0x08, 0x00, 0x00, 0x10, 0x00, 0x01, 0x00]
  /// The answer to reset of a YubiKey 5.
  static let answerToReset: [UInt8] = [
    0x3B, 0xFD, 0x13, 0x00, 0x00, 0x81, 0x31, 0xFE, 0x15, 0x80, 0x73, 0xC0, 0x21, 0xC0, 0x57, 0x59, 0x75, 0x62, 0x69,
    0x4B, 0x65, 0x79, 0x40,
  ]

  private static let shortestName = 5

  /// The answer to SELECT (part 2, section 3.1.1).
  private static let template = DataObject(
    tag: 0x61,
    holding: [
      DataObject(tag: 0x4F, value: Array(name[5...])),
      DataObject(tag: 0x79, holding: [DataObject(tag: 0x4F, value: Array(name[..<5]))]),
    ])

  /// The discovery object and the card holder unique identifier, by their tags.
  private static let objects: [[UInt8]: [UInt8]] = {
    let discovery = DataObject(
      tag: 0x7E, holding: [DataObject(tag: 0x4F, value: name), DataObject(tag: 0x5F2F, value: [0x40, 0x00])])
    let identifier = DataObject(
      tag: 0x53,
      holding: [
        // The agency's number, empty; a GUID; the date of expiry; no signature.
        DataObject(tag: 0x30, value: [UInt8](repeating: 0, count: 25)), DataObject(tag: 0x34, value: Array(1...16)),
        DataObject(tag: 0x35, value: Array("20991231".utf8)), DataObject(tag: 0x3E, value: []),
        DataObject(tag: 0xFE, value: []),
      ])
    return [[0x7E]: discovery.bytes, [0x5F, 0xC1, 0x02]: identifier.bytes]
  }()

  private var isSelected = false

  var memory: [UInt8] { [] }
  var writeTear: WriteTear?

  mutating func deselect() { isSelected = false }

  mutating func respond(to bytes: [UInt8]) -> [UInt8] {
    guard let command = CommandAPDU(bytes) else { return [0x67, 0x00] }
    guard command.instructionClass == 0x00 else { return [0x6E, 0x00] }
    switch (command.instruction, command.parameter1) {
    case (0xA4, 0x04):
      isSelected = command.data.count >= Self.shortestName && Self.name.starts(with: command.data)
      return isSelected ? Self.template.bytes + [0x90, 0x00] : [0x6A, 0x82]
    // The discovery object is also there before SELECT.
    case (0xCB, 0x3F) where command.data.count > 2 && command.data[0] == 0x5C:
      return Self.objects[Array(command.data[2...])].map { $0 + [0x90, 0x00] } ?? [0x6A, 0x82]
    // VERIFY without a PIN: three tries are left.
    case (0x20, _): return [0x63, 0xC3]
    default: return [0x6D, 0x00]
    }
  }
}

extension SimulatedCard {
  /// A card for personal identity verification without keys, with contacts, as in a YubiKey.
  package static func piv() -> SimulatedCard {
    SimulatedCard(.contact(PIVApplication(), answerToReset: PIVApplication.answerToReset))
  }
}
