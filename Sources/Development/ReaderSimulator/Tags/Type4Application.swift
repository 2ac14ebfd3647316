/// The NDEF application of a Type 4 tag (Type 4 Tag Technical Specification, sections 4 and 5).
struct Type4Application: CardApplication {
  private enum File {
    case capabilityContainer
    case ndef
  }

  private enum StatusWord {
    static let success: [UInt8] = [0x90, 0x00]
    static let wrongLength: [UInt8] = [0x67, 0x00]
    static let notAllowed: [UInt8] = [0x69, 0x82]
    static let noFileSelected: [UInt8] = [0x69, 0x86]
    static let fileNotFound: [UInt8] = [0x6A, 0x82]
    static let wrongParameters: [UInt8] = [0x6A, 0x86]
    static let wrongOffset: [UInt8] = [0x6B, 0x00]
    static let unknownInstruction: [UInt8] = [0x6D, 0x00]
    static let unknownClass: [UInt8] = [0x6E, 0x00]
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
    guard let command = CommandAPDU(bytes) else { return StatusWord.wrongLength }
    guard command.instructionClass == 0x00 else { return StatusWord.unknownClass }
    switch command.instruction {
    case 0xA4: return select(command)
    case 0xB0, 0xB1: return readBinary(command)
    case 0xD6, 0xD7: return updateBinary(command)
    default: return StatusWord.unknownInstruction
    }
  }

  private mutating func select(_ command: CommandAPDU) -> [UInt8] {
    switch (command.parameter1, command.parameter2) {
    case (0x04, 0x00):
      isSelected = command.data == Self.applicationName
      selectedFile = nil
      return isSelected ? StatusWord.success : StatusWord.fileNotFound
    case (0x00, 0x0C):
      guard isSelected else { return StatusWord.fileNotFound }
      switch command.data {
      case [0xE1, 0x03]: selectedFile = .capabilityContainer
      case Self.ndefFileID: selectedFile = .ndef
      default: return StatusWord.fileNotFound
      }
      return StatusWord.success
    default: return StatusWord.wrongParameters
    }
  }

  private func readBinary(_ command: CommandAPDU) -> [UInt8] {
    let contents: [UInt8]
    switch selectedFile {
    case .capabilityContainer: contents = capabilityContainer
    case .ndef: contents = ndefFile
    case nil: return StatusWord.noFileSelected
    }
    guard let access = BinaryAccess(command, extendedOffsets: options.mappingVersion == 3) else {
      return StatusWord.wrongParameters
    }
    guard let count = command.expectedLength, count <= options.maximumRead else { return StatusWord.wrongLength }
    guard access.offset < contents.count else { return StatusWord.wrongOffset }
    let overhead = access.isObject ? (count > 0x81 ? 3 : 2) : 0
    let data = Array(contents[access.offset...].prefix(max(0, count - overhead)))
    return (access.isObject ? BinaryAccess.object(0x53, data) : data) + StatusWord.success
  }

  private mutating func updateBinary(_ command: CommandAPDU) -> [UInt8] {
    switch selectedFile {
    case nil: return StatusWord.noFileSelected
    case .capabilityContainer:
      guard options.containerIsWritable else { return StatusWord.notAllowed }
    case .ndef:
      guard capabilityContainer[writeAccess] == 0x00 else { return StatusWord.notAllowed }
    }
    guard let access = BinaryAccess(command, extendedOffsets: options.mappingVersion == 3) else {
      return StatusWord.wrongParameters
    }
    guard !access.data.isEmpty, command.data.count <= options.maximumWrite else { return StatusWord.wrongLength }
    let end = access.offset + access.data.count
    if selectedFile == .capabilityContainer {
      guard end <= capabilityContainer.count else { return StatusWord.wrongOffset }
      let old = Array(capabilityContainer[access.offset..<end])
      capabilityContainer.replaceSubrange(access.offset..<end, with: writeTear.contents(access.data, over: old))
    } else {
      guard end <= ndefFile.count else { return StatusWord.wrongOffset }
      let old = Array(ndefFile[access.offset..<end])
      ndefFile.replaceSubrange(access.offset..<end, with: writeTear.contents(access.data, over: old))
    }
    return StatusWord.success
  }

  private static func bigEndian(_ value: Int, count: Int) -> [UInt8] {
    (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }
}
