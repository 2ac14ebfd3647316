import CoreNFC

/// Prints two files from the chip of an identity document (ICAO Doc 9303, part 10): EF.COM and the data of the
/// machine-readable zone.
///
/// The chip must allow reading without access control. A real passport requires PACE or BAC first.
@MainActor final class ChipReader: NSObject, @MainActor NFCTagReaderSessionDelegate {
  private var session: NFCTagReaderSession?
  private var isRead = false
  private var problem: String?

  /// The delegate belongs to the main actor, so its callbacks have to run on the main queue.
  func scan() {
    session = NFCTagReaderSession(pollingOption: .iso14443, delegate: self, queue: .main)
    session?.alertMessage = "Hold your document near the reader."
    session?.begin()
  }

  func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession) {}

  func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: any Error) {
    if !isRead { print(problem ?? error.localizedDescription) }
    exit(isRead ? 0 : 1)
  }

  func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {
    guard tags.count == 1, let tag = tags.first, case .iso7816(let chip) = tag else {
      problem = "Hold one document near the reader."
      return session.invalidate(errorMessage: "Hold one document near the reader.")
    }
    Task {
      do {
        try await session.connect(to: tag)
        try await show(Document(chip: chip))
        isRead = true
        session.invalidate()
      } catch {
        problem = error.localizedDescription
        session.invalidate(errorMessage: error.localizedDescription)
      }
    }
  }

  private func show(_ document: Document) async throws {
    try await document.select()
    print("application \(document.chip.initialSelectedAID)")
    let contents = try await document.read(0x011E)
    print("EF.COM \(contents.map { String(format: "%02X", $0) }.joined())")
    let zone = try await document.read(0x0101).suffix(88).map { (0x20...0x7E).contains($0) ? $0 : 0x2E }
    print(String(decoding: zone.prefix(44), as: UTF8.self))
    print(String(decoding: zone.dropFirst(44), as: UTF8.self))
  }
}

/// The commands to the chip (ISO/IEC 7816-4, section 11).
@MainActor struct Document {
  let chip: any NFCISO7816Tag

  private static let application = Data([0xA0, 0x00, 0x00, 0x02, 0x47, 0x10, 0x01])
  /// The bytes that one READ BINARY asks for.
  private static let blockSize = 32

  /// SELECT by the application's name.
  func select() async throws {
    _ = try await send(0xA4, 0x04, 0x0C, Self.application)
  }

  /// Reads a whole file. Its first bytes are the tag and the length of a data object (BER-TLV).
  func read(_ identifier: UInt16) async throws -> Data {
    _ = try await send(0xA4, 0x02, 0x0C, Data([UInt8(identifier >> 8), UInt8(identifier & 0xFF)]))
    var contents = try await readBinary(at: 0, count: 4)
    let size = try fileSize(contents)
    while contents.count < size {
      let rest = size - contents.count
      contents.append(try await readBinary(at: contents.count, count: min(Self.blockSize, rest)))
    }
    return contents
  }

  private func fileSize(_ header: Data) throws -> Int {
    guard header.count == 4 else { throw DocumentError("The chip sent no length.") }
    let size =
      switch header[1] {
      case 0x81: 3 + Int(header[2])
      case 0x82: 4 + (Int(header[2]) << 8 | Int(header[3]))
      default: 2 + Int(header[1])
      }
    // READ BINARY has 15 bits for the offset.
    guard (4...0x7FFF).contains(size) else { throw DocumentError("The chip sent a wrong length.") }
    return size
  }

  private func readBinary(at offset: Int, count: Int) async throws -> Data {
    let data = try await send(0xB0, UInt8(offset >> 8), UInt8(offset & 0xFF), Data(), expecting: count)
    guard (1...count).contains(data.count) else { throw DocumentError("The chip sent \(data.count) bytes.") }
    return data
  }

  private func send(
    _ instruction: UInt8, _ p1: UInt8, _ p2: UInt8, _ data: Data, expecting length: Int = -1
  ) async throws -> Data {
    let apdu = NFCISO7816APDU(
      instructionClass: 0x00, instructionCode: instruction, p1Parameter: p1, p2Parameter: p2, data: data,
      expectedResponseLength: length)
    let (answer, status1, status2) = try await chip.sendCommand(apdu: apdu)
    guard status1 == 0x90, status2 == 0x00 else {
      throw DocumentError(String(format: "The chip refuses command %02X: %02X%02X.", instruction, status1, status2))
    }
    return answer
  }
}

struct DocumentError: LocalizedError {
  let errorDescription: String?

  init(_ description: String) { errorDescription = description }
}

let reader = ChipReader()
reader.scan()
dispatchMain()
