/// An application with files that everyone may read (ISO/IEC 7816-4), like the chip of an identity document without
/// access control.
///
/// It supports SELECT of the application by its name and of the master file, SELECT of a file below it by its identifier
/// (P1 02), and READ BINARY.
struct FileApplication: CardApplication {
  let name: [UInt8]
  let files: [UInt16: [UInt8]]
  /// The files of the master file. Without any, it cannot be selected.
  let masterFiles: [UInt16: [UInt8]]
  /// The files of the selected application or master file.
  private var directory: [UInt16: [UInt8]] = [:]
  private var selectedFile: [UInt8]?

  /// The files, in the order of their identifiers.
  var memory: [UInt8] { files.keys.sorted().flatMap { files[$0] ?? [] } }
  var writeTear: WriteTear?

  init(name: [UInt8], files: [UInt16: [UInt8]], masterFiles: [UInt16: [UInt8]] = [:]) {
    self.name = name
    self.files = files
    self.masterFiles = masterFiles
  }

  mutating func deselect() { (directory, selectedFile) = ([:], nil) }

  mutating func respond(to bytes: [UInt8]) -> [UInt8] {
    guard let command = CardAPDU(bytes) else { return [0x67, 0x00] }
    guard command.instructionClass == 0x00 else { return [0x6E, 0x00] }
    switch (command.instruction, command.parameter1) {
    case (0xA4, 0x04):
      (directory, selectedFile) = (command.data == name ? files : [:], nil)
      return command.data == name ? [0x90, 0x00] : [0x6A, 0x82]
    case (0xA4, 0x00) where command.data == [0x3F, 0x00] && !masterFiles.isEmpty:
      (directory, selectedFile) = (masterFiles, nil)
      return [0x90, 0x00]
    case (0xA4, 0x02):
      let identifier = command.data.reduce(0) { $0 << 8 | Int($1) }
      guard command.data.count == 2, let file = directory[UInt16(identifier)] else { return [0x6A, 0x82] }
      selectedFile = file
      return [0x90, 0x00]
    case (0xB0, _): return readBinary(command)
    default: return [0x6D, 0x00]
    }
  }

  private func readBinary(_ command: CardAPDU) -> [UInt8] {
    guard let selectedFile else { return [0x69, 0x86] }
    guard let access = BinaryAccess(command, extendedOffsets: false) else { return [0x6A, 0x86] }
    guard let count = command.expectedLength else { return [0x67, 0x00] }
    guard access.offset < selectedFile.count else { return [0x6B, 0x00] }
    return selectedFile[access.offset...].prefix(count) + [0x90, 0x00]
  }
}

extension SimulatedTag {
  /// A card with one application and its files, by their identifiers. The name of the application has 5 to 16 bytes. Of
  /// the options, it uses the answer to select, and how often the card asks for more time. `masterFiles` lie in the
  /// master file, as the EF.CardAccess of a passport does.
  package static func fileCard(
    _ name: [UInt8], files: [UInt16: [UInt8]], masterFiles: [UInt16: [UInt8]] = [:], uid: TagUID = .generated(),
    options: Type4Options = Type4Options()
  ) -> SimulatedTag { cardA(FileApplication(name: name, files: files, masterFiles: masterFiles), uid, options) }
}

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
    guard let command = CardAPDU(bytes) else { return [0x67, 0x00] }
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
  ) -> SimulatedTag { cardA(SelectableApplication(name: name ?? SelectableApplication.usualName), uid, options) }
}

/// The proximity payment system environment of a bank card (EMV Contactless, book B, 3.3). It lists the payment
/// applications of the card, and is the only application that can be selected.
struct PaymentApplication: CardApplication {
  private static let environment = Array("2PAY.SYS.DDF01".utf8)
  private static let applicationName: [UInt8] = [0xA0, 0x00, 0x00, 0x00, 0x03, 0x10, 0x10]

  private static let directory: [UInt8] = {
    let entry = object([0x61], object([0x4F], applicationName) + object([0x87], [0x01]))
    return object([0x6F], object([0x84], environment) + object([0xA5], object([0xBF, 0x0C], entry)))
  }()

  var memory: [UInt8] { [] }
  var writeTear: WriteTear?

  mutating func deselect() {}

  mutating func respond(to bytes: [UInt8]) -> [UInt8] {
    guard let command = CardAPDU(bytes) else { return [0x67, 0x00] }
    guard command.instructionClass == 0x00 else { return [0x6E, 0x00] }
    guard command.instruction == 0xA4 else { return [0x6D, 0x00] }
    return command.data == Self.environment ? Self.directory + [0x90, 0x00] : [0x6A, 0x82]
  }

  // A BER-TLV data object of fewer than 128 bytes.
  private static func object(_ tag: [UInt8], _ value: [UInt8]) -> [UInt8] {
    tag + [UInt8(truncatingIfNeeded: value.count)] + value
  }
}
