import Foundation

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
