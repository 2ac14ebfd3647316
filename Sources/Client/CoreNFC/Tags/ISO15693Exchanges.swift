import Foundation

/// The commands to a tag of ISO/IEC 15693-3, chapters 10 and 11.
///
/// A command is the request without start, checksum and end of frame: flags, command code, parameters (7.3). An answer
/// begins with the response flags (7.4). An answer with the error flag is an error with code 102 and the tag's error
/// code in the user info. If a command has no response, such as Challenge, the reader may return no bytes.
///
/// Each function throws the error of a wrong parameter, whose codes `NFCISO15693Tag` lists.
struct ISO15693Exchanges: Sendable {
  /// The UID in the order of transmission, the least significant byte first.
  let uid: [UInt8]

  /// - Parameter identifier: the UID, the most significant byte first.
  init(identifier: Data) { uid = identifier.reversed() }

  /// How a command names its tag (ISO/IEC 15693-3, 7.3.2).
  enum Addressing: Sendable {
    /// By its UID, unless the flags have `select`.
    case enforced
    /// By its UID, if the flags have `address`.
    case requested
    /// By its UID. The flag `select` is removed.
    case always
  }

  /// The form of block numbers.
  enum Numbering: Sendable {
    /// One byte. For the commands from 20 on.
    case short
    /// Two bytes, the low byte first. For the extended commands from 30 on.
    case extended

    fileprivate var count: Int { self == .short ? 0x100 : 0x10000 }

    fileprivate func bytes(_ number: Int) -> [UInt8] {
      let bytes = [UInt8(truncatingIfNeeded: number), UInt8(truncatingIfNeeded: number >> 8)]
      return self == .short ? [bytes[0]] : bytes
    }
  }

  // MARK: Blocks

  /// Read single block (20, 30): the block; with the flag `option`, its security status before it.
  func readBlock(
    _ flags: NFCISO15693RequestFlag, _ number: Int, _ numbering: Numbering
  ) throws(NFCReaderError) -> TagExchange<Data> {
    try exchange(flags, numbering == .short ? 0x20 : 0x30, try Self.block(number, numbering)) { content in
      content.isEmpty ? nil : Data(content)
    }
  }

  /// Write single block (21, 31).
  func writeBlock(
    _ flags: NFCISO15693RequestFlag, _ number: Int, _ data: Data, _ numbering: Numbering
  ) throws(NFCReaderError) -> TagExchange<Void> {
    let parameters = try Self.block(number, numbering) + Self.content([data])
    return try command(flags, numbering == .short ? 0x21 : 0x31, parameters)
  }

  /// Lock block (22, 32).
  func lockBlock(
    _ flags: NFCISO15693RequestFlag, _ number: Int, _ numbering: Numbering
  ) throws(NFCReaderError) -> TagExchange<Void> {
    try command(flags, numbering == .short ? 0x22 : 0x32, try Self.block(number, numbering))
  }

  /// Read multiple blocks (23, 33) and Fast read multiple blocks (2D, 3D): the blocks, all of one size.
  ///
  /// With the flag `option`, each begins with its security status.
  func readBlocks(
    _ flags: NFCISO15693RequestFlag, _ range: NSRange, _ numbering: Numbering, isFast: Bool = false
  ) throws(NFCReaderError) -> TagExchange<[Data]> {
    let code: UInt8 = (numbering == .short ? 0x20 : 0x30) + (isFast ? 0x0D : 0x03)
    let count = range.length
    return try exchange(flags, code, try Self.blocks(range, numbering)) { content in
      content.isEmpty ? nil : content.pieces(count, of: content.count / count)
    }
  }

  /// Write multiple blocks (24, 34).
  func writeBlocks(
    _ flags: NFCISO15693RequestFlag, _ range: NSRange, _ blocks: [Data], _ numbering: Numbering
  ) throws(NFCReaderError) -> TagExchange<Void> {
    let numbers = try Self.blocks(range, numbering)
    guard blocks.count == range.length else { throw NFCReaderError(.readerErrorInvalidParameter) }
    return try command(flags, numbering == .short ? 0x24 : 0x34, try numbers + Self.content(blocks))
  }

  /// Get multiple block security status (2C, 3C): one number for each block.
  func securityStatus(
    _ flags: NFCISO15693RequestFlag, _ range: NSRange, _ numbering: Numbering
  ) throws(NFCReaderError) -> TagExchange<[Int]> {
    let count = range.length
    return try exchange(flags, numbering == .short ? 0x2C : 0x3C, try Self.blocks(range, numbering)) { content in
      content.count == count ? content.map { Int($0) } : nil
    }
  }

  private static func block(_ number: Int, _ numbering: Numbering) throws(NFCReaderError) -> [UInt8] {
    guard (0..<numbering.count).contains(number) else { throw NFCReaderError(.readerErrorParameterOutOfBound) }
    return numbering.bytes(number)
  }

  /// The first block, and the number of blocks minus one.
  private static func blocks(_ range: NSRange, _ numbering: Numbering) throws(NFCReaderError) -> [UInt8] {
    guard (1...numbering.count).contains(range.length) else { throw NFCReaderError(.readerErrorParameterOutOfBound) }
    return try block(range.location, numbering) + numbering.bytes(range.length - 1)
  }

  /// The bytes of blocks that have one size, 1 to 32 bytes (ISO/IEC 15693-3, 5.2).
  private static func content(_ blocks: [Data]) throws(NFCReaderError) -> [UInt8] {
    let size = blocks.first?.count ?? 0
    guard (1...32).contains(size), blocks.allSatisfy({ $0.count == size }) else {
      throw NFCReaderError(.readerErrorInvalidParameterLength)
    }
    return blocks.flatMap { Array($0) }
  }

  // MARK: Requests

  /// A request with a response of its flags alone, such as Select.
  func command(
    _ flags: NFCISO15693RequestFlag, _ code: UInt8, _ parameters: [UInt8] = [], _ addressing: Addressing = .enforced
  ) throws(NFCReaderError) -> TagExchange<Void> {
    try exchange(flags, code, parameters, addressing, Self.acknowledgement)
  }

  /// A request. `read` gets the bytes after the response flags, and returns nil if they have a wrong form.
  func exchange<Answer: Sendable>(
    _ flags: NFCISO15693RequestFlag, _ code: UInt8, _ parameters: [UInt8] = [], _ addressing: Addressing = .enforced,
    _ read: @escaping @Sendable ([UInt8]) -> Answer?
  ) throws(NFCReaderError) -> TagExchange<Answer> {
    try Self.packet(request(flags, code, parameters, addressing)) { answer in
      let (_, content) = try Self.response(answer)
      guard let content = read(content) else { throw NFCReaderError.wrongLength(answer.count) }
      return content
    }
  }

  /// A request, addressed. `manufacturer` is the byte before the UID, which only custom commands have.
  func request(
    _ flags: NFCISO15693RequestFlag, _ code: UInt8, manufacturer: [UInt8] = [], _ parameters: [UInt8],
    _ addressing: Addressing
  ) -> [UInt8] {
    let isAddressed =
      switch addressing {
      case .enforced: !flags.contains(.select)
      case .requested: flags.contains(.address)
      case .always: true
      }
    var flags = flags
    if isAddressed {
      flags.remove(.select)
      flags.insert(.address)
    } else {
      flags.remove(.address)
    }
    return [flags.rawValue, code] + manufacturer + (isAddressed ? uid : []) + parameters
  }

  static func packet<Answer: Sendable>(
    _ command: [UInt8], _ read: @escaping @Sendable ([UInt8]) throws -> Answer
  ) throws(NFCReaderError) -> TagExchange<Answer> {
    guard command.count <= 256 else { throw NFCReaderError(.readerTransceiveErrorPacketTooLong) }
    return TagExchange(command: command, read: read)
  }

  // MARK: Responses

  /// The flags of a response, and the bytes after them. Throws if the error flag is set.
  static func response(_ answer: [UInt8]) throws(NFCReaderError) -> (NFCISO15693ResponseFlag, [UInt8]) {
    guard let first = answer.first else { throw NFCReaderError.wrongLength(0) }
    let flags = NFCISO15693ResponseFlag(rawValue: first)
    guard flags.contains(.error) else { return (flags, Array(answer.dropFirst())) }
    // 0F: an error without information (ISO/IEC 15693-3, 7.4.2).
    let code = answer.count > 1 ? answer[1] : 0x0F
    throw NFCReaderError(
      .readerTransceiveErrorTagResponseError, userInfo: [NFCISO15693TagResponseErrorKey: NSNumber(value: code)])
  }

  @Sendable private static func acknowledgement(_ content: [UInt8]) -> Void? { content.isEmpty ? () : nil }
}

/// The commands that are about the whole tag.
extension ISO15693Exchanges {
  /// Get system information (2B). Numbers that the tag does not have are -1.
  func systemInfo(_ flags: NFCISO15693RequestFlag) throws(NFCReaderError) -> TagExchange<NFCISO15693SystemInfo> {
    try exchange(flags, 0x2B) { content in
      guard let present = content.first, content.count >= 9 else { return nil }
      var rest = content.dropFirst(9)
      // A bit of the first byte says whether the tag has the field (ISO/IEC 15693-3, 10.4.12).
      func field(_ bit: UInt8, _ size: Int) -> [Int]? {
        guard present & bit != 0 else { return Array(repeating: -1, count: size) }
        guard rest.count >= size else { return nil }
        defer { rest = rest.dropFirst(size) }
        return rest.prefix(size).map { Int($0) }
      }
      guard let format = field(0x01, 1), let family = field(0x02, 1), let memory = field(0x04, 2),
        let reference = field(0x08, 1), rest.isEmpty
      else { return nil }
      let hasMemory = memory[0] >= 0
      return NFCISO15693SystemInfo(
        uniqueIdentifier: Data(content[1...8]), dataStorageFormatIdentifier: format[0],
        applicationFamilyIdentifier: family[0], blockSize: hasMemory ? memory[1] & 0x1F + 1 : -1,
        totalBlocks: hasMemory ? memory[0] + 1 : -1, icReference: reference[0])
    }
  }

  /// Select (25).
  func select(_ flags: NFCISO15693RequestFlag) throws(NFCReaderError) -> TagExchange<Void> {
    try command(flags, 0x25, [], .always)
  }

  /// A command of the IC's manufacturer (A0 to DF): the bytes after the response flags. `manufacturer` is the code of
  /// ISO/IEC 7816-6, 0 to 255.
  func custom(
    _ flags: NFCISO15693RequestFlag, _ code: Int, manufacturer: Int, _ parameters: Data
  ) throws(NFCReaderError) -> TagExchange<Data> {
    guard (0xA0...0xDF).contains(code) else { throw NFCReaderError(.readerErrorParameterOutOfBound) }
    let command = request(
      flags, UInt8(truncatingIfNeeded: code), manufacturer: [try Self.byte(manufacturer)], Array(parameters),
      .requested)
    return try Self.packet(command) { answer in Data(try Self.response(answer).1) }
  }

  /// A request that is sent as it is: the response flags and the bytes after them, also with the error flag.
  ///
  /// - Parameters:
  ///   - flags: the request flags, 0 to 255.
  ///   - code: the command code, 0 to 255.
  ///   - data: the bytes after the command code.
  /// - Returns: the exchange. If the reader returns no bytes, the flags are 0.
  /// - Throws: code 5 or 105.
  static func request(
    flags: Int, code: Int, data: Data?
  ) throws(NFCReaderError) -> TagExchange<(NFCISO15693ResponseFlag, Data?)> {
    try packet([try byte(flags), try byte(code)] + Array(data ?? Data())) { answer in
      (NFCISO15693ResponseFlag(rawValue: answer.first ?? 0), answer.count > 1 ? Data(answer.dropFirst()) : nil)
    }
  }

  // MARK: Security

  /// Authenticate (35): the response flags, and the bytes after them.
  func authenticate(
    _ flags: NFCISO15693RequestFlag, _ cryptoSuite: Int, _ message: Data
  ) throws(NFCReaderError) -> TagExchange<(NFCISO15693ResponseFlag, Data)> {
    try secure(flags, 0x35, [try Self.byte(cryptoSuite)] + Array(message))
  }

  /// Key update (36): the response flags, and the bytes after them.
  func keyUpdate(
    _ flags: NFCISO15693RequestFlag, _ key: Int, _ message: Data
  ) throws(NFCReaderError) -> TagExchange<(NFCISO15693ResponseFlag, Data)> {
    try secure(flags, 0x36, [try Self.byte(key)] + Array(message))
  }

  /// Challenge (39). Tags compute the answer and keep it for Read buffer. The command has no response.
  func challenge(
    _ flags: NFCISO15693RequestFlag, _ cryptoSuite: Int, _ message: Data
  ) throws(NFCReaderError) -> TagExchange<Void> {
    let parameters = [try Self.byte(cryptoSuite)] + Array(message)
    return try Self.packet(request(flags, 0x39, parameters, .requested), Self.silence)
  }

  /// Read buffer (3A): the response flags, and the bytes after them.
  func readBuffer(
    _ flags: NFCISO15693RequestFlag
  ) throws(NFCReaderError) -> TagExchange<(NFCISO15693ResponseFlag, Data)> {
    try secure(flags, 0x3A, [])
  }

  private func secure(
    _ flags: NFCISO15693RequestFlag, _ code: UInt8, _ parameters: [UInt8]
  ) throws(NFCReaderError) -> TagExchange<(NFCISO15693ResponseFlag, Data)> {
    try Self.packet(request(flags, code, parameters, .requested)) { answer in
      let (flags, content) = try Self.response(answer)
      return (flags, Data(content))
    }
  }

  /// The answer to a command without a response. Some tags acknowledge it.
  @Sendable private static func silence(_ answer: [UInt8]) throws {
    guard !answer.isEmpty else { return }
    guard try response(answer).1.isEmpty else { throw NFCReaderError.wrongLength(answer.count) }
  }

  private static func byte(_ number: Int) throws(NFCReaderError) -> UInt8 {
    guard let byte = UInt8(exactly: number) else { throw NFCReaderError(.readerErrorParameterOutOfBound) }
    return byte
  }
}
