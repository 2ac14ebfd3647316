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
  /// The files of what is selected.
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
    guard let command = CommandAPDU(bytes) else { return [0x67, 0x00] }
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

  private func readBinary(_ command: CommandAPDU) -> [UInt8] {
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
  ) -> SimulatedTag {
    cardA(FileApplication(name: name, files: files, masterFiles: masterFiles), uid, options)
  }
}
