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
