/// The NDEF application of a Type 4 tag (Type 4 Tag Technical Specification, sections 4 and 5).
struct Type4Application: CardApplication {
  private enum File {
    case capabilityContainer
    case ndef
  }

  private static let applicationName: [UInt8] = [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01]
  private static let ndefFileID: [UInt8] = [0xE1, 0x04]

  private let options: Type4Options
  private(set) var capabilityContainer: [UInt8]
  private(set) var ndefFile: [UInt8]
  /// The index of the write access byte in the container.
  private let writeAccess: Int
  private var isSelected = false
  private var selectedFile: File?
  var writeTear: WriteTear?

  /// Fails if the message does not fit, or the mapping cannot express the size of the file.
  init(message: [UInt8], options: Type4Options) throws(SimulatorError) {
    guard options.mappingVersion == 2 || options.mappingVersion == 3 else {
      throw SimulatorError("mapping version \(options.mappingVersion) does not exist: 2 or 3")
    }
    let lengthBytes = options.isExtended ? 4 : 2
    let size = options.fileSize ?? max(256, message.count + lengthBytes)
    guard message.count + lengthBytes <= size else {
      throw SimulatorError("\(message.count) bytes do not fit into a file of \(size)")
    }
    guard size <= (options.isExtended ? 1 << 24 : 0xFFFE) else {
      throw SimulatorError("a file of \(size) bytes is too large for mapping version \(options.mappingVersion)")
    }
    guard (15...0xFFFF).contains(options.maximumRead), (1...0xFFFF).contains(options.maximumWrite) else {
      throw SimulatorError("a tag reads at least 15 and writes at least 1 byte at once, and at most 65535")
    }
    self.options = options
    let length = Self.bigEndian(options.declaredLength ?? message.count, count: lengthBytes)
    ndefFile = length + message + [UInt8](repeating: 0, count: size - lengthBytes - message.count)
    let access: [UInt8] = [0x00, options.isReadOnly ? 0xFF : 0x00]
    let control: [UInt8] =
      options.isExtended
      ? [0x06, 0x08] + Self.ndefFileID + Self.bigEndian(size, count: 4) + access
      : [0x04, 0x06] + Self.ndefFileID + Self.bigEndian(size, count: 2) + access
    capabilityContainer =
      Self.bigEndian(7 + control.count, count: 2) + [UInt8(options.mappingVersion << 4)]
      + Self.bigEndian(options.maximumRead, count: 2) + Self.bigEndian(options.maximumWrite, count: 2) + control
    writeAccess = 7 + control.count - 1
  }

  var memory: [UInt8] { ndefFile }

  mutating func deselect() {
    isSelected = false
    selectedFile = nil
  }

  /// Returns the data and the status word.
  mutating func respond(to bytes: [UInt8]) -> [UInt8] {
    guard let command = CardAPDU(bytes) else { return ResponseStatus.wrongLength }
    guard command.instructionClass == 0x00 else { return ResponseStatus.wrongClass }
    switch command.instruction {
    case 0xA4: return select(command)
    case 0xB0, 0xB1: return readBinary(command)
    case 0xD6, 0xD7: return updateBinary(command)
    default: return ResponseStatus.wrongInstruction
    }
  }

  private mutating func select(_ command: CardAPDU) -> [UInt8] {
    switch (command.parameter1, command.parameter2) {
    case (0x04, 0x00):
      guard options.takesExpectedLength || command.expectedLength == nil else { return ResponseStatus.wrongLength }
      isSelected = command.data == Self.applicationName
      selectedFile = nil
      return isSelected ? ResponseStatus.success : ResponseStatus.notFound
    case (0x00, options.selectsFilesWith):
      guard isSelected else { return ResponseStatus.notFound }
      switch command.data {
      case [0xE1, 0x03]: selectedFile = .capabilityContainer
      case Self.ndefFileID: selectedFile = .ndef
      default: return ResponseStatus.notFound
      }
      return ResponseStatus.success
    default: return ResponseStatus.wrongParameters
    }
  }

  private func readBinary(_ command: CardAPDU) -> [UInt8] {
    let contents: [UInt8]
    switch selectedFile {
    case .capabilityContainer: contents = capabilityContainer
    case .ndef: contents = ndefFile
    case nil: return ResponseStatus.noFileSelected
    }
    guard let access = BinaryAccess(command, extendedOffsets: options.mappingVersion == 3) else {
      return ResponseStatus.wrongParameters
    }
    guard let count = command.expectedLength, count <= options.maximumRead else { return ResponseStatus.wrongLength }
    guard access.offset < contents.count else { return ResponseStatus.wrongOffset }
    let overhead = access.isObject ? (count > 0x81 ? 3 : 2) : 0
    let data = Array(contents[access.offset...].prefix(max(0, count - overhead)))
    return (access.isObject ? BinaryAccess.object(0x53, data) : data) + ResponseStatus.success
  }

  private mutating func updateBinary(_ command: CardAPDU) -> [UInt8] {
    switch selectedFile {
    case nil: return ResponseStatus.noFileSelected
    case .capabilityContainer:
      guard options.containerIsWritable else { return ResponseStatus.securityNotSatisfied }
    case .ndef:
      guard capabilityContainer[writeAccess] == 0x00 else { return ResponseStatus.securityNotSatisfied }
    }
    guard let access = BinaryAccess(command, extendedOffsets: options.mappingVersion == 3) else {
      return ResponseStatus.wrongParameters
    }
    guard !access.data.isEmpty, command.data.count <= options.maximumWrite else { return ResponseStatus.wrongLength }
    let end = access.offset + access.data.count
    if selectedFile == .capabilityContainer {
      guard end <= capabilityContainer.count else { return ResponseStatus.wrongOffset }
      let old = Array(capabilityContainer[access.offset..<end])
      capabilityContainer.replaceSubrange(access.offset..<end, with: writeTear.contents(access.data, over: old))
    } else {
      guard end <= ndefFile.count else { return ResponseStatus.wrongOffset }
      let old = Array(ndefFile[access.offset..<end])
      ndefFile.replaceSubrange(access.offset..<end, with: writeTear.contents(access.data, over: old))
    }
    return ResponseStatus.success
  }

  private static func bigEndian(_ value: Int, count: Int) -> [UInt8] {
    (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }
}

/// The parameters of a Type 4 tag: its description of itself, and how it stores its message.
package struct Type4Options: Sendable, Hashable {
  /// The major version of the mapping. Version 2 has lengths of two bytes, version 3 of four.
  package var mappingVersion = 2
  /// Whether everyone may write the capability container and so lock the tag. A DESFire or NTAG 424 does not allow it.
  package var containerIsWritable = false
  /// The most bytes that one READ BINARY returns.
  package var maximumRead = 59
  /// The most bytes that one UPDATE BINARY accepts.
  package var maximumWrite = 52
  /// The bytes of the NDEF file, including its length field; nil for as many as the message needs, but at least 256.
  package var fileSize: Int?
  /// A false length for the length field of the NDEF file; nil for the true one.
  package var declaredLength: Int?
  /// Whether the capability container forbids writing.
  package var isReadOnly = false
  /// Whether SELECT by name may have Le. A few older cards refuse it.
  package var takesExpectedLength = true
  /// P2 of SELECT by file identifier: 0C without response data, or 00.
  package var selectsFilesWith: UInt8 = 0x0C
  /// The answer to select, starting with its length byte. A wrong length byte is sent as it is: libnfc crashes on a 0.
  package var ats: [UInt8] = [0x06, 0x75, 0x77, 0x81, 0x02, 0x80]
  /// SAK. Bit 6 means that the tag speaks ISO/IEC 14443-4.
  package var sak: UInt8 = 0x20

  /// Whether REQA and WUPA end the block protocol. A card that follows the standard ignores them there. The tools of
  /// libfreefare leave a card in the block protocol, and can select it again only if this is set.
  package var leavesOnRequest = false
  /// Whether a reader must run anticollision in a cascade level before it can select the tag there. Some clones are
  /// like this: a reader that already knows the UID cannot select them directly.
  package var needsAnticollision = false
  /// How many times the tag asks for more time (S(WTX)) before each answer.
  package var timeExtensions = 0

  /// Whether lengths have four bytes.
  var isExtended: Bool { mappingVersion == 3 }

  /// The parameters of a DESFire in its NDEF configuration.
  package init() {}

  /// The same with a change: `Type4Options { $0.fileSize = 4 }`.
  package init(_ change: (inout Type4Options) -> Void) {
    self.init()
    change(&self)
  }
}

extension SimulatedTag {
  /// A Type 4A tag that holds an encoded NDEF message; empty for a formatted tag without one. Fails if the message does
  /// not fit, or the options contradict one another.
  package static func type4(
    message: [UInt8], uid: TagUID = .generated(), options: Type4Options = Type4Options()
  ) throws(SimulatorError) -> SimulatedTag {
    cardA(try Type4Application(message: message, options: options), uid, options)
  }

  /// A Type 4B tag that holds an encoded NDEF message; empty for a formatted tag without one. SAK and ATS in the
  /// options belong to Type A, and are not used. Fails if the message does not fit, or the options contradict one
  /// another.
  package static func type4B(
    message: [UInt8], pupi: TagPUPI = .generated(), options: Type4Options = Type4Options()
  ) throws(SimulatorError) -> SimulatedTag {
    let application = try Type4Application(message: message, options: options)
    return cardB(application, pupi, timeExtensions: options.timeExtensions)
  }

  /// A MIFARE DESFire EV1 that holds an encoded NDEF message, and also has the native commands that read it. The
  /// message is empty for a formatted card without one; the UID has 7 bytes. Fails if one of them does not fit, or the
  /// options contradict one another.
  package static func desfire(
    message: [UInt8], uid: TagUID = .generated(), options: Type4Options = Type4Options()
  ) throws(SimulatorError) -> SimulatedTag {
    guard let bytes = uid.fixedBytes, bytes.count == 7 else {
      throw SimulatorError("a DESFire that says its UID has one of 7 bytes")
    }
    let application = DESFireApplication(try Type4Application(message: message, options: options), uid: bytes)
    return cardA(application, uid, options)
  }

  /// A bank card, with a payment environment and without an NDEF application. Bank cards have a fixed or a random UID.
  package static func paymentCard(uid: TagUID = .generated()) -> SimulatedTag {
    cardA(PaymentApplication(), uid, Type4Options())
  }

  /// A bank card of Type B.
  package static func paymentCardB(pupi: TagPUPI = .generated()) -> SimulatedTag { cardB(PaymentApplication(), pupi) }

  static func cardA(_ application: any CardApplication, _ uid: TagUID, _ options: Type4Options) -> SimulatedTag {
    let card = BlockProtocolCard(application, timeExtensions: options.timeExtensions)
    return SimulatedTag(
      tag: TypeATag(
        uid: uid, application: BlockProtocolTag(card, options: options), needsAnticollision: options.needsAnticollision)
    )
  }

  // Protocol info: 106 kbit/s; frames of 64 bytes, ISO/IEC 14443-4; about 77 ms of waiting time, no CID or NAD.
  private static func cardB(
    _ application: any CardApplication, _ pupi: TagPUPI, timeExtensions: Int = 0
  ) -> SimulatedTag {
    let card = BlockProtocolCard(application, timeExtensions: timeExtensions)
    return SimulatedTag(
      tag: TypeBTag(
        pupi: pupi, applicationData: [0x00, 0x00, 0x00, 0x00], protocolInfo: [0x00, 0x51, 0x80], card: card))
  }
}
