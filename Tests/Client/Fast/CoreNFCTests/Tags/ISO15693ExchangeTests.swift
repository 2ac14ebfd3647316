import Foundation
import Testing

@testable import CoreNFC

@Suite struct ISO15693ExchangeTests {
  /// In the order of transmission.
  private let uid: [UInt8] = [6, 5, 4, 3, 2, 1, 0x04, 0xE0]
  private let identifier = Data([0xE0, 0x04, 1, 2, 3, 4, 5, 6])
  private let wrong = NFCReaderError.Code.readerTransceiveErrorTagResponseError
  private let outOfBound = NFCReaderError.Code.readerErrorParameterOutOfBound

  /// The bytes around the UID.
  private func addressed(_ head: [UInt8], _ rest: [UInt8] = []) -> [UInt8] { head + uid + rest }

  private func short(_ flags: NFCISO15693RequestFlag) -> ISO15693Exchanges { ISO15693Exchanges(identifier, flags) }

  private func extended(_ flags: NFCISO15693RequestFlag) -> ISO15693Exchanges {
    ISO15693Exchanges(identifier, flags, isExtended: true)
  }

  private func range(_ location: Int, _ length: Int) -> NSRange { NSRange(location: location, length: length) }

  // MARK: Addressing

  @Test func `a command has the UID, unless the tag is selected`() throws {
    #expect(try short(.highDataRate).readBlock(7).command == addressed([0x22, 0x20], [7]))
    #expect(try short([.highDataRate, .address]).readBlock(7).command == addressed([0x22, 0x20], [7]))
    #expect(try short([.highDataRate, .select]).readBlock(7).command == [0x12, 0x20, 7])
    #expect(try short([.highDataRate, .select, .address]).readBlock(7).command == [0x12, 0x20, 7])
    #expect(try short([.highDataRate, .option]).readBlock(7).command == addressed([0x62, 0x20], [7]))
  }

  @Test func `Select always has the UID`() throws {
    #expect(try short([.highDataRate, .select]).select().command == addressed([0x22, 0x25]))
  }

  @Test func `custom and cryptographic commands have the UID on request`() throws {
    let data = Data([0xAA])
    #expect(try short(.highDataRate).custom(0xA1, manufacturer: 4, data).command == [0x02, 0xA1, 0x04, 0xAA])
    #expect(
      try short([.highDataRate, .address]).custom(0xA1, manufacturer: 4, data).command
        == addressed([0x22, 0xA1, 0x04], [0xAA]))
    #expect(try short(.highDataRate).authenticate(1, data).command == [0x02, 0x35, 1, 0xAA])
    #expect(try short([.address]).authenticate(1, data).command == addressed([0x20, 0x35], [1, 0xAA]))
    #expect(try short(.highDataRate).keyUpdate(2, data).command == [0x02, 0x36, 2, 0xAA])
    #expect(try short(.highDataRate).challenge(3, data).command == [0x02, 0x39, 3, 0xAA])
    #expect(try short(.highDataRate).readBuffer().command == [0x02, 0x3A])
  }

  // MARK: Commands

  @Test func `commands with block numbers of one byte`() throws {
    let flags = NFCISO15693RequestFlag.select
    let block = Data([1, 2, 3, 4])
    #expect(try short(flags).writeBlock(255, block).command == [0x10, 0x21, 255, 1, 2, 3, 4])
    #expect(try short(flags).lockBlock(3).command == [0x10, 0x22, 3])
    #expect(try short(flags).readBlocks(range(2, 256)).command == [0x10, 0x23, 2, 255])
    #expect(try short(flags).readBlocks(range(2, 3), isFast: true).command == [0x10, 0x2D, 2, 2])
    #expect(
      try short(flags).writeBlocks(range(2, 2), [block, block]).command
        == [0x10, 0x24, 2, 1, 1, 2, 3, 4, 1, 2, 3, 4])
    #expect(try short(flags).securityStatus(range(0, 1)).command == [0x10, 0x2C, 0, 0])
    #expect(try short(flags).systemInfo().command == [0x10, 0x2B])
    #expect(try short(flags).writeAFI(0x50).command == [0x10, 0x27, 0x50])
  }

  @Test func `commands with block numbers of two bytes have the low byte first`() throws {
    let flags = NFCISO15693RequestFlag.select
    let block = Data([9])
    #expect(try extended(flags).readBlock(0x1234).command == [0x10, 0x30, 0x34, 0x12])
    #expect(try extended(flags).writeBlock(0x1234, block).command == [0x10, 0x31, 0x34, 0x12, 9])
    #expect(try extended(flags).lockBlock(0xFFFF).command == [0x10, 0x32, 0xFF, 0xFF])
    #expect(
      try extended(flags).readBlocks(range(0x100, 0x10000)).command == [0x10, 0x33, 0, 1, 0xFF, 0xFF])
    #expect(
      try extended(flags).readBlocks(range(1, 2), isFast: true).command == [0x10, 0x3D, 1, 0, 1, 0])
    #expect(
      try extended(flags).writeBlocks(range(1, 1), [block]).command == [0x10, 0x34, 1, 0, 0, 0, 9])
    #expect(try extended(flags).securityStatus(range(1, 1)).command == [0x10, 0x3C, 1, 0, 0, 0])
  }

  @Test func `a number that is out of range has code 5`() {
    let flags = NFCISO15693RequestFlag.highDataRate
    for number in [-1, 0x100, Int.max] {
      #expect(errorCode { try short(flags).readBlock(number) } == outOfBound)
    }
    for number in [-1, 0x10000] {
      #expect(errorCode { try extended(flags).lockBlock(number) } == outOfBound)
    }
    for wrongRange in [range(0, 0), range(256, 1), range(0, 257), range(NSNotFound, 1), range(-1, 1)] {
      #expect(errorCode { try short(flags).readBlocks(wrongRange) } == outOfBound)
      #expect(errorCode { try short(flags).writeBlocks(wrongRange, []) } == outOfBound)
      #expect(errorCode { try short(flags).securityStatus(wrongRange) } == outOfBound)
    }
    #expect(errorCode { try extended(flags).readBlocks(range(0, 0x10001)) } == outOfBound)
    for code in [0x9F, 0xE0, -1, 0x1A1] {
      #expect(errorCode { try short(flags).custom(code, manufacturer: 4, Data()) } == outOfBound)
    }
    expect(
      outOfBound,
      of: [
        { try short(flags).custom(0xA0, manufacturer: 256, Data()) },
        { try short(flags).authenticate(256, Data()) },
        { try ISO15693Exchanges.request(flags: 256, code: 0x2B, data: nil) },
        { try ISO15693Exchanges.request(flags: 2, code: -1, data: nil) },
      ])
  }

  @Test func `blocks of a wrong size have code 4, and of a wrong number 3`() {
    let flags = NFCISO15693RequestFlag.highDataRate
    let code = NFCReaderError.Code.readerErrorInvalidParameterLength
    expect(
      code,
      of: [
        { try short(flags).writeBlock(0, Data()) },
        { try short(flags).writeBlock(0, Data(repeating: 0, count: 33)) },
        { try short(flags).writeBlocks(range(0, 2), [Data([1]), Data([1, 2])]) },
      ])
    #expect(
      errorCode { try short(flags).writeBlocks(range(0, 2), [Data([1])]) } == .readerErrorInvalidParameter)
  }

  @Test func `a request has at most 256 bytes`() throws {
    let tooLong = NFCReaderError.Code.readerTransceiveErrorPacketTooLong
    let data = Data(repeating: 0, count: 254)
    #expect(try ISO15693Exchanges.request(flags: 2, code: 0x2B, data: data).command.count == 256)
    #expect(errorCode { try ISO15693Exchanges.request(flags: 2, code: 0x2B, data: data + [0]) } == tooLong)
    let blocks = Array(repeating: Data(repeating: 0, count: 32), count: 8)
    #expect(errorCode { try short(.select).writeBlocks(range(0, 8), blocks) } == tooLong)
  }

  // MARK: Responses

  @Test func `an error of the tag has its code in the user info`() throws {
    let exchange = try short(.highDataRate).readBlock(0)
    for (answer, code) in [([0x01, 0x10], 0x10), ([0x01], 0x0F)] as [([UInt8], UInt8)] {
      let error = #expect(throws: NFCReaderError.self) { try exchange.read(answer) }
      #expect(error?.code == wrong)
      #expect(error?._nsError.userInfo[NFCISO15693TagResponseErrorKey] as? NSNumber == NSNumber(value: code))
    }
    exchange.refuses([[]])
  }

  @Test func `a block is what follows the response flags`() throws {
    let exchange = try short(.highDataRate).readBlock(0)
    #expect(try exchange.read([0, 1, 2, 3, 4]) == Data([1, 2, 3, 4]))
    exchange.refuses([[0]])
  }

  @Test func `blocks have one size`() throws {
    let exchange = try short(.highDataRate).readBlocks(range(0, 3))
    #expect(try exchange.read([0, 1, 2, 3, 4, 5, 6]) == [Data([1, 2]), Data([3, 4]), Data([5, 6])])
    exchange.refuses([[0, 1, 2, 3, 4, 5], [0, 1, 2], [0]])
  }

  @Test func `an acknowledgement is the response flags alone`() throws {
    let exchange = try short(.highDataRate).lockBlock(0)
    #expect(errorCode { try exchange.read([0]) } == nil)
    exchange.refuses([[0, 0], []])
  }

  @Test func `a command without a response may have no bytes`() throws {
    let exchange = try short(.highDataRate).challenge(0, Data())
    #expect(errorCode { try exchange.read([]) } == nil)
    #expect(errorCode { try exchange.read([0]) } == nil)
    exchange.refuses([[1, 0x0F], [0, 1]])
  }

  @Test func `the security status has one byte for each block`() throws {
    let exchange = try short(.highDataRate).securityStatus(range(0, 2))
    #expect(try exchange.read([0, 0, 1]) == [0, 1])
    exchange.refuses([[0, 0]])
  }

  @Test func `the system information has what the tag gives, and -1 for the rest`() throws {
    let exchange = try short(.highDataRate).systemInfo()
    let all = try exchange.read(addressed([0, 0x0F], [0x11, 0x22, 27, 0xE3, 0x33]))
    #expect(all.uniqueIdentifier == Data(uid))
    #expect(all.dataStorageFormatIdentifier == 0x11 && all.applicationFamilyIdentifier == 0x22)
    #expect(all.totalBlocks == 28 && all.blockSize == 4 && all.icReference == 0x33)
    let none = try exchange.read(addressed([0, 0x00]))
    #expect(none.dataStorageFormatIdentifier == -1 && none.applicationFamilyIdentifier == -1)
    #expect(none.totalBlocks == -1 && none.blockSize == -1 && none.icReference == -1)
    let memory = try exchange.read(addressed([0, 0x04], [255, 31]))
    #expect(memory.totalBlocks == 256 && memory.blockSize == 32 && memory.icReference == -1)
    exchange.refuses([
      addressed([0, 0x0F], [0x11, 0x22, 27, 3]), addressed([0, 0x00], [0]), [0, 0x00] + uid.dropLast(),
    ])
  }

  @Test func `a request of the program's own gets the response as it is`() throws {
    let exchange = try ISO15693Exchanges.request(flags: 0x02, code: 0x2B, data: Data([5]))
    #expect(exchange.command == [0x02, 0x2B, 5])
    let failed = try exchange.read([0x01, 0x0F])
    #expect(failed.0 == .error)
    #expect(failed.1 == Data([0x0F]))
    let empty = try exchange.read([0x04])
    #expect(empty.0 == .finalResponse)
    #expect(empty.1 == nil)
    let silent = try exchange.read([])
    #expect(silent.0 == [])
    #expect(silent.1 == nil)
  }

  @Test func `a cryptographic command gives the response flags and the bytes after them`() throws {
    let answer = try short(.highDataRate).readBuffer().read([0x06, 7, 8])
    #expect(answer.0 == [.responseBufferValid, .finalResponse])
    #expect(answer.1 == Data([7, 8]))
    try short(.highDataRate).readBuffer().refuses([[0x01, 0x40]])
  }
}

/// The code of the `NFCReaderError` that `body` throws; nil if it throws none.
func errorCode<Value>(_ body: () throws -> Value) -> NFCReaderError.Code? {
  do {
    _ = try body()
    return nil
  } catch {
    return (error as? NFCReaderError)?.code
  }
}

func expect(
  _ code: NFCReaderError.Code, of calls: [() throws -> Any], sourceLocation: SourceLocation = #_sourceLocation
) {
  for (index, call) in calls.enumerated() {
    #expect(errorCode(call) == code, "call \(index)", sourceLocation: sourceLocation)
  }
}

extension TagExchange {
  /// Requires that each answer is an error of the tag.
  func refuses(_ answers: [[UInt8]], sourceLocation: SourceLocation = #_sourceLocation) {
    for answer in answers {
      let code = errorCode { try read(answer) }
      #expect(code == .readerTransceiveErrorTagResponseError, "\(answer)", sourceLocation: sourceLocation)
    }
  }
}
