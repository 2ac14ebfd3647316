/// An OpenPGP card without keys (OpenPGP smart card application 3.4), enough for `gpg --card-status`.
struct OpenPGPApplication: CardApplication {
  /// The name of the application: version 3.4, the manufacturer FFFE for tests, serial number 1.
  static let name: [UInt8] = [
    0xD2, 0x76, 0x00, 0x01, 0x24, 0x01, 0x03, 0x04, 0xFF, 0xFE, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00,
  ]
  /// The answer to reset, with the historical bytes.
  static let answerToReset: [UInt8] = [
    0x3B, 0xDA, 0x18, 0xFF, 0x81, 0xB1, 0xFE, 0x75, 0x1F, 0x03, 0x00, 0x31, 0xF5, 0x73, 0xC0, 0x01, 0x60, 0x00, 0x90,
    0x00, 0x1C,
  ]

  private static let historicalBytes: [UInt8] = [0x00, 0x31, 0xF5, 0x73, 0xC0, 0x01, 0x60, 0x00, 0x90, 0x00]
  private static let shortestName = 6
  /// RSA with 2048 bits.
  private static let algorithm: [UInt8] = [0x01, 0x08, 0x00, 0x00, 0x11, 0x00]
  /// PIN valid for one signature, lengths, and three tries.
  private static let passwordStatus: [UInt8] = [0x00, 0x20, 0x20, 0x20, 0x03, 0x00, 0x03]

  private static let objects: [UInt16: [UInt8]] = {
    let zeros = { (count: Int) in [UInt8](repeating: 0, count: count) }
    let discretionary = DataObject(
      tag: 0x73,
      holding: [
        // Extended capabilities: none, and objects of up to 2,048 bytes.
        DataObject(tag: 0xC0, value: [0x00, 0x00, 0x00, 0x00, 0x08, 0x00, 0x08, 0x00, 0x00, 0x00]),
        DataObject(tag: 0xC1, value: algorithm), DataObject(tag: 0xC2, value: algorithm),
        DataObject(tag: 0xC3, value: algorithm), DataObject(tag: 0xC4, value: passwordStatus),
        // Fingerprints, fingerprints of certification keys, and times of creation, of three keys.
        DataObject(tag: 0xC5, value: zeros(60)), DataObject(tag: 0xC6, value: zeros(60)),
        DataObject(tag: 0xCD, value: zeros(12)),
      ])
    let application = DataObject(
      tag: 0x6E,
      holding: [
        DataObject(tag: 0x4F, value: name), DataObject(tag: 0x5F52, value: historicalBytes), discretionary,
      ])
    let holder = DataObject(
      tag: 0x65,
      holding: [
        DataObject(tag: 0x5B, value: Array("Doe<<Jane".utf8)), DataObject(tag: 0x5F2D, value: Array("en".utf8)),
        DataObject(tag: 0x5F35, value: Array("2".utf8)),
      ])
    let security = DataObject(tag: 0x7A, holding: [DataObject(tag: 0x93, value: zeros(3))])
    return [
      0x004F: name, 0x5F52: historicalBytes, 0x006E: application.bytes, 0x0065: holder.bytes,
      0x005E: Array("jane".utf8), 0x5F50: Array("https://example.com/key".utf8), 0x007A: security.bytes,
      0x00C4: passwordStatus,
    ]
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
      return isSelected ? [0x90, 0x00] : [0x6A, 0x82]
    case (0xA4, _): return [0x6A, 0x82]
    case (0xCA, _) where isSelected:
      let tag = UInt16(command.parameter1) << 8 | UInt16(command.parameter2)
      return Self.objects[tag].map { $0 + [0x90, 0x00] } ?? [0x6A, 0x88]
    // There is no key, so there is no public key to read.
    case (0x47, 0x81) where isSelected: return [0x6A, 0x88]
    default: return [0x6D, 0x00]
    }
  }
}

extension SimulatedCard {
  /// An OpenPGP card without keys, with contacts.
  package static func openPGP() -> SimulatedCard {
    SimulatedCard(.contact(OpenPGPApplication(), answerToReset: OpenPGPApplication.answerToReset))
  }
}

extension SimulatedTag {
  /// A security key without contacts, or held to the reader, with the OpenPGP application and without NDEF.
  package static func openPGPCard(uid: TagUID = .generated()) -> SimulatedTag {
    cardA(OpenPGPApplication(), uid, Type4Options())
  }
}
