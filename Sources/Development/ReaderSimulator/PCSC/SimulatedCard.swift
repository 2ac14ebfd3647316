/// A card for a virtual PC/SC reader: a tag without contacts, or a card with contacts.
package struct SimulatedCard: Sendable {
  enum Medium: Sendable {
    case contactless(any FieldTag)
    case contact(any CardApplication, answerToReset: [UInt8])
  }

  var medium: Medium
  /// Replaces the answer to reset that the reader makes up, or that the card has.
  private(set) var answerToReset: [UInt8]?

  init(_ medium: Medium) { self.medium = medium }

  /// A tag as it lies on any simulated reader. The reader finds it only if its model knows the technology.
  package init(_ tag: SimulatedTag) { medium = .contactless(tag.tag) }

  /// A card with contacts that refuses every command. It serves to show that no program sends it one.
  package static func contact() -> SimulatedCard {
    SimulatedCard(.contact(RefusingApplication(), answerToReset: [0x3B, 0x02, 0x14, 0x50]))
  }

  /// A bank card with contacts. It has only the directory of its payment applications.
  package static func paymentChip() -> SimulatedCard {
    SimulatedCard(
      .contact(
        PaymentApplication(),
        answerToReset: [
          0x3B, 0x6E, 0x00, 0x00, 0x00, 0x62, 0x00, 0x00, 0x57, 0x41, 0x56, 0x49, 0x44, 0x4D, 0x10, 0x81, 0x90, 0x00,
        ]))
  }

  /// The same card with any answer to reset, right or wrong: 0 to 33 bytes. Fails if there are more.
  package func answeringReset(with bytes: [UInt8]) throws(SimulatorError) -> SimulatedCard {
    guard bytes.count <= 33 else { throw SimulatorError("an answer to reset has at most 33 bytes, not \(bytes.count)") }
    var card = self
    card.answerToReset = bytes
    return card
  }

  /// The card's tag, with its contents; nil if it has contacts.
  package var tag: SimulatedTag? { if case .contactless(let tag) = medium { SimulatedTag(tag: tag) } else { nil } }

  /// The whole permanent memory.
  package var memory: [UInt8] {
    switch medium {
    case .contactless(let tag): tag.memory
    case .contact(let application, _): application.memory
    }
  }

  var hasContacts: Bool { if case .contact = medium { true } else { false } }
}

/// An application that answers every command with "instruction not supported".
struct RefusingApplication: CardApplication {
  var memory: [UInt8] { [] }
  var writeTear: WriteTear?

  mutating func deselect() {}

  mutating func respond(to command: [UInt8]) -> [UInt8] { [0x6D, 0x00] }
}

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
    let discretionary = BERObject(
      tag: 0x73,
      holding: [
        // Extended capabilities: none, and objects of up to 2,048 bytes.
        BERObject(tag: 0xC0, value: [0x00, 0x00, 0x00, 0x00, 0x08, 0x00, 0x08, 0x00, 0x00, 0x00]),
        BERObject(tag: 0xC1, value: algorithm), BERObject(tag: 0xC2, value: algorithm),
        BERObject(tag: 0xC3, value: algorithm), BERObject(tag: 0xC4, value: passwordStatus),
        // Fingerprints, fingerprints of certification keys, and times of creation, of three keys.
        BERObject(tag: 0xC5, value: zeros(60)), BERObject(tag: 0xC6, value: zeros(60)),
        BERObject(tag: 0xCD, value: zeros(12)),
      ])
    let application = BERObject(
      tag: 0x6E,
      holding: [BERObject(tag: 0x4F, value: name), BERObject(tag: 0x5F52, value: historicalBytes), discretionary])
    let holder = BERObject(
      tag: 0x65,
      holding: [
        BERObject(tag: 0x5B, value: Array("Doe<<Jane".utf8)), BERObject(tag: 0x5F2D, value: Array("en".utf8)),
        BERObject(tag: 0x5F35, value: Array("2".utf8)),
      ])
    let security = BERObject(tag: 0x7A, holding: [BERObject(tag: 0x93, value: zeros(3))])
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
    guard let command = CardAPDU(bytes) else { return [0x67, 0x00] }
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
  private static let template = BERObject(
    tag: 0x61,
    holding: [
      BERObject(tag: 0x4F, value: Array(name[5...])),
      BERObject(tag: 0x79, holding: [BERObject(tag: 0x4F, value: Array(name[..<5]))]),
    ])

  /// The discovery object and the card holder unique identifier, by their tags.
  private static let objects: [[UInt8]: [UInt8]] = {
    let discovery = BERObject(
      tag: 0x7E, holding: [BERObject(tag: 0x4F, value: name), BERObject(tag: 0x5F2F, value: [0x40, 0x00])])
    let identifier = BERObject(
      tag: 0x53,
      holding: [
        // The agency's number, empty; a GUID; the date of expiry; no signature.
        BERObject(tag: 0x30, value: [UInt8](repeating: 0, count: 25)), BERObject(tag: 0x34, value: Array(1...16)),
        BERObject(tag: 0x35, value: Array("20991231".utf8)), BERObject(tag: 0x3E, value: []),
        BERObject(tag: 0xFE, value: []),
      ])
    return [[0x7E]: discovery.bytes, [0x5F, 0xC1, 0x02]: identifier.bytes]
  }()

  private var isSelected = false

  var memory: [UInt8] { [] }
  var writeTear: WriteTear?

  mutating func deselect() { isSelected = false }

  mutating func respond(to bytes: [UInt8]) -> [UInt8] {
    guard let command = CardAPDU(bytes) else { return [0x67, 0x00] }
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
