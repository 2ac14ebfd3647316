import Foundation

/// The commands of ISO/IEC 15693-3, chapters 10 and 11, to one tag: the code and the parameters of each, and how its
/// answer is read.
///
/// A command is the request without start, checksum and end of frame: flags, command code, parameters (7.3). An answer
/// begins with the response flags (7.4). An answer with the error flag is an error with code 102 and the tag's error
/// code in the user info. If a command has no response, such as Challenge, the reader may return no bytes.
///
/// Each function throws the error of a wrong parameter, whose codes `NFCISO15693Tag` lists.
struct ISO15693Exchanges: Sendable {
  /// The UID in the order of transmission, the least significant byte first.
  private let uid: [UInt8]
  private let flags: NFCISO15693RequestFlag
  /// Whether block numbers have two bytes, the low byte first. The codes of these commands are higher by 10
  /// (hexadecimal).
  private let isExtended: Bool

  /// The identifier is the UID, the most significant byte first.
  init(_ identifier: Data, _ flags: NFCISO15693RequestFlag, isExtended: Bool = false) {
    uid = identifier.reversed()
    self.flags = flags
    self.isExtended = isExtended
  }

  typealias Flagged = (NFCISO15693ResponseFlag, Data)

  // MARK: Blocks

  /// The block; with the flag `option`, its security status before it.
  func readBlock(_ number: Int) throws -> TagExchange<Data> {
    try exchange(0x20, block(number)) { $0.isEmpty ? nil : Data($0) }
  }

  func writeBlock(_ number: Int, _ data: Data) throws -> TagExchange<Void> {
    try command(0x21, block(number) + Self.content([data]))
  }

  func lockBlock(_ number: Int) throws -> TagExchange<Void> { try command(0x22, block(number)) }

  /// The blocks, all of one size. With the flag `option`, each begins with its security status.
  func readBlocks(_ range: NSRange, isFast: Bool = false) throws -> TagExchange<[Data]> {
    try exchange(isFast ? 0x2D : 0x23, blocks(range)) { content in
      content.isEmpty ? nil : content.pieces(range.length, of: content.count / range.length)
    }
  }

  func writeBlocks(_ range: NSRange, _ blocks: [Data]) throws -> TagExchange<Void> {
    let numbers = try self.blocks(range)
    guard blocks.count == range.length else { throw NFCReaderError(.readerErrorInvalidParameter) }
    return try command(0x24, numbers + Self.content(blocks))
  }

  /// One number for each block.
  func securityStatus(_ range: NSRange) throws -> TagExchange<[Int]> {
    try exchange(0x2C, blocks(range)) { $0.count == range.length ? $0.map { Int($0) } : nil }
  }

  // MARK: The whole tag

  func select() throws -> TagExchange<Void> { try command(0x25, [], .always) }

  func resetToReady() throws -> TagExchange<Void> { try command(0x26) }

  func writeAFI(_ afi: UInt8) throws -> TagExchange<Void> { try command(0x27, [afi]) }

  func lockAFI() throws -> TagExchange<Void> { try command(0x28) }

  func writeDSFID(_ dsfid: UInt8) throws -> TagExchange<Void> { try command(0x29, [dsfid]) }

  func lockDSFID() throws -> TagExchange<Void> { try command(0x2A) }

  /// Numbers that the tag does not have are -1.
  func systemInfo() throws -> TagExchange<NFCISO15693SystemInfo> {
    try exchange(0x2B) { content in
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

  /// A command of the IC's manufacturer (A0 to DF): the bytes after the response flags. `manufacturer` is the code of
  /// ISO/IEC 7816-6, 0 to 255. It comes before the UID.
  func custom(_ code: Int, manufacturer: Int, _ parameters: Data) throws -> TagExchange<Data> {
    guard (0xA0...0xDF).contains(code) else { throw NFCReaderError(.readerErrorParameterOutOfBound) }
    return try exchange(Self.byte(code), Array(parameters), .requested, manufacturer: [Self.byte(manufacturer)]) {
      Data($0)
    }
  }

  // MARK: Security

  /// The response flags, and the bytes after them.
  func authenticate(_ cryptoSuite: Int, _ message: Data) throws -> TagExchange<Flagged> {
    try secure(0x35, [Self.byte(cryptoSuite)] + message)
  }

  /// The response flags, and the bytes after them.
  func keyUpdate(_ key: Int, _ message: Data) throws -> TagExchange<Flagged> {
    try secure(0x36, [Self.byte(key)] + message)
  }

  /// Tags compute the answer and keep it for Read buffer. The command has no response, but some tags acknowledge it.
  func challenge(_ cryptoSuite: Int, _ message: Data) throws -> TagExchange<Void> {
    try Self.packet(request(0x39, [Self.byte(cryptoSuite)] + message, .requested)) { answer in
      guard try answer.isEmpty || Self.response(answer).1.isEmpty else {
        throw NFCReaderError.wrongLength(answer.count)
      }
    }
  }

  /// The response flags, and the bytes after them.
  func readBuffer() throws -> TagExchange<Flagged> { try secure(0x3A) }

  /// A request that is sent as it is: the response flags and the bytes after them, also with the error flag.
  ///
  /// - Parameters:
  ///   - flags: the request flags, 0 to 255.
  ///   - code: the command code, 0 to 255.
  ///   - data: the bytes after the command code.
  /// - Returns: the exchange. If the reader returns no bytes, the flags are 0.
  /// - Throws: code 5 or 105.
  static func request(flags: Int, code: Int, data: Data?) throws -> TagExchange<(NFCISO15693ResponseFlag, Data?)> {
    try packet([byte(flags), byte(code)] + (data ?? Data())) { answer in
      (NFCISO15693ResponseFlag(rawValue: answer.first ?? 0), answer.count > 1 ? Data(answer.dropFirst()) : nil)
    }
  }
}

/// The forms of requests and responses.
extension ISO15693Exchanges {
  /// How a command names its tag (ISO/IEC 15693-3, 7.3.2).
  private enum Addressing {
    /// By its UID, unless the flags have `select`.
    case enforced
    /// By its UID, if the flags have `address`.
    case requested
    /// By its UID. The flag `select` is removed.
    case always
  }

  /// A request with a response of its flags alone.
  private func command(
    _ code: UInt8, _ parameters: [UInt8] = [], _ addressing: Addressing = .enforced
  ) throws -> TagExchange<Void> {
    try exchange(code, parameters, addressing) { $0.isEmpty ? () : nil }
  }

  private func secure(_ code: UInt8, _ parameters: [UInt8] = []) throws -> TagExchange<Flagged> {
    try Self.packet(request(code, parameters, .requested)) { answer in
      let (flags, content) = try Self.response(answer)
      return (flags, Data(content))
    }
  }

  /// A request. `read` gets the bytes after the response flags, and returns nil if they have a wrong form.
  private func exchange<Answer: Sendable>(
    _ code: UInt8, _ parameters: [UInt8] = [], _ addressing: Addressing = .enforced, manufacturer: [UInt8] = [],
    _ read: @escaping @Sendable ([UInt8]) -> Answer?
  ) throws -> TagExchange<Answer> {
    try Self.packet(request(code, parameters, addressing, manufacturer: manufacturer)) { answer in
      guard let content = read(try Self.response(answer).1) else { throw NFCReaderError.wrongLength(answer.count) }
      return content
    }
  }

  private func request(
    _ code: UInt8, _ parameters: [UInt8], _ addressing: Addressing, manufacturer: [UInt8] = []
  ) -> [UInt8] {
    let isAddressed =
      switch addressing {
      case .enforced: !flags.contains(.select)
      case .requested: flags.contains(.address)
      case .always: true
      }
    let flags = isAddressed ? flags.subtracting(.select).union(.address) : flags.subtracting(.address)
    return [flags.rawValue, isExtended ? code + 0x10 : code] + manufacturer + (isAddressed ? uid : []) + parameters
  }

  private static func packet<Answer: Sendable>(
    _ command: [UInt8], _ read: @escaping @Sendable ([UInt8]) throws -> Answer
  ) throws -> TagExchange<Answer> {
    guard command.count <= 256 else { throw NFCReaderError(.readerTransceiveErrorPacketTooLong) }
    return TagExchange(command: command, read: read)
  }

  /// The flags of a response, and the bytes after them. Throws if the error flag is set.
  static func response(_ answer: [UInt8]) throws -> (NFCISO15693ResponseFlag, [UInt8]) {
    guard let first = answer.first else { throw NFCReaderError.wrongLength(0) }
    let flags = NFCISO15693ResponseFlag(rawValue: first)
    guard flags.contains(.error) else { return (flags, Array(answer.dropFirst())) }
    // 0F: an error without information (ISO/IEC 15693-3, 7.4.2).
    let code = answer.count > 1 ? answer[1] : 0x0F
    throw NFCReaderError(
      .readerTransceiveErrorTagResponseError, userInfo: [NFCISO15693TagResponseErrorKey: NSNumber(value: code)])
  }

  // MARK: Parameters

  private var blockLimit: Int { isExtended ? 0x10000 : 0x100 }

  private func bytes(_ number: Int) -> [UInt8] {
    let low = UInt8(truncatingIfNeeded: number)
    return isExtended ? [low, UInt8(truncatingIfNeeded: number >> 8)] : [low]
  }

  private func block(_ number: Int) throws -> [UInt8] {
    guard (0..<blockLimit).contains(number) else { throw NFCReaderError(.readerErrorParameterOutOfBound) }
    return bytes(number)
  }

  /// The first block, and the number of blocks minus one.
  private func blocks(_ range: NSRange) throws -> [UInt8] {
    guard (1...blockLimit).contains(range.length) else { throw NFCReaderError(.readerErrorParameterOutOfBound) }
    return try block(range.location) + bytes(range.length - 1)
  }

  /// The bytes of blocks that have one size, 1 to 32 bytes (ISO/IEC 15693-3, 5.2).
  private static func content(_ blocks: [Data]) throws -> [UInt8] {
    let size = blocks.first?.count ?? 0
    guard (1...32).contains(size), blocks.allSatisfy({ $0.count == size }) else {
      throw NFCReaderError(.readerErrorInvalidParameterLength)
    }
    return blocks.flatMap { Array($0) }
  }

  private static func byte(_ number: Int) throws -> UInt8 {
    guard let byte = UInt8(exactly: number) else { throw NFCReaderError(.readerErrorParameterOutOfBound) }
    return byte
  }
}
