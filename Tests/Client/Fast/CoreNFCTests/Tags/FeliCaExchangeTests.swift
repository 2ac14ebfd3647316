import Foundation
import Testing

@testable import CoreNFC

@Suite struct FeliCaExchangeTests {
  private let idm: [UInt8] = [0x01, 0x10, 2, 3, 4, 5, 6, 7]
  private let pmm: [UInt8] = [0, 1, 2, 3, 4, 5, 6, 7]
  private let service = Data([0x0F, 0x09])

  private var exchanges: FeliCaExchanges { FeliCaExchanges(idm: idm) }

  private func packet(_ code: UInt8, _ content: [UInt8] = []) -> [UInt8] { [code] + idm + content }

  private func block(_ number: UInt8) -> Data { Data([0x80, number]) }

  private func polling(_ requestCode: NFCFeliCaPollingRequestCode) throws -> TagExchange<FeliCaExchanges.Polled> {
    try FeliCaExchanges.polling(systemCode: Data([0x00, 0x03]), requestCode: requestCode, timeSlot: .max4)
  }

  // MARK: Commands

  @Test func `every command has its code, the IDm and its parameters`() throws {
    #expect(try polling(.noRequest).command == [0x00, 0x00, 0x03, 0x00, 0x03])
    #expect(try polling(.communicationPerformance).command == [0x00, 0x00, 0x03, 0x02, 0x03])
    #expect(
      try exchanges.requestService([service, Data([0xFF, 0xFF])]).command
        == packet(0x02, [2, 0x0F, 0x09, 0xFF, 0xFF]))
    #expect(try exchanges.requestResponse().command == packet(0x04))
    #expect(
      try exchanges.readWithoutEncryption([service], [block(0), Data([0x00, 0x01, 0x02])]).command
        == packet(0x06, [1, 0x0F, 0x09, 2, 0x80, 0x00, 0x00, 0x01, 0x02]))
    let data = Data(0..<16)
    #expect(
      try exchanges.writeWithoutEncryption([service], [block(5)], [data]).command
        == packet(0x08, [1, 0x0F, 0x09, 1, 0x80, 0x05] + Array(data)))
    #expect(try exchanges.requestSystemCode().command == packet(0x0C))
    #expect(try exchanges.requestServiceV2([service]).command == packet(0x32, [1, 0x0F, 0x09]))
    #expect(try exchanges.requestSpecificationVersion().command == packet(0x3C, [0, 0]))
    #expect(try exchanges.resetMode().command == packet(0x3E, [0, 0]))
    #expect(try FeliCaExchanges.command(Data(packet(0x04))).command == packet(0x04))
  }

  @Test func `a list with too few or too many elements has code 5`() throws {
    let code = NFCReaderError.Code.readerErrorParameterOutOfBound
    expect(
      code,
      of: [
        { try exchanges.requestService([]) },
        { try exchanges.requestService(Array(repeating: service, count: 33)) },
        { try exchanges.requestServiceV2([]) },
        { try exchanges.requestServiceV2(Array(repeating: service, count: 33)) },
        { try exchanges.readWithoutEncryption([], [block(0)]) },
        { try exchanges.readWithoutEncryption(Array(repeating: service, count: 17), [block(0)]) },
        { try exchanges.readWithoutEncryption([service], []) },
        { try exchanges.writeWithoutEncryption([service], [], []) },
      ])
    #expect(try exchanges.requestService(Array(repeating: service, count: 32)).command.count == 74)
    #expect(
      try exchanges.readWithoutEncryption(Array(repeating: service, count: 16), [block(0)]).command.count == 45)
  }

  @Test func `an element of a wrong length has code 4`() {
    let code = NFCReaderError.Code.readerErrorInvalidParameterLength
    expect(
      code,
      of: [
        { try exchanges.requestService([Data([1])]) },
        { try exchanges.requestServiceV2([Data([1, 2, 3])]) },
        { try exchanges.readWithoutEncryption([Data()], [block(0)]) },
        { try exchanges.readWithoutEncryption([service], [Data([0x80])]) },
        { try exchanges.readWithoutEncryption([service], [Data([0x80, 0, 0, 0])]) },
        { try exchanges.writeWithoutEncryption([service], [block(0)], [Data(0..<15)]) },
        { try FeliCaExchanges.command(Data()) },
      ])
    let system = Data([0x00])
    #expect(
      errorCode { try FeliCaExchanges.polling(systemCode: system, requestCode: .noRequest, timeSlot: .max1) } == code)
  }

  @Test func `blocks and data of different numbers have code 3`() {
    #expect(
      errorCode { try exchanges.writeWithoutEncryption([service], [block(0)], []) } == .readerErrorInvalidParameter)
  }

  @Test func `a packet has at most 254 bytes`() throws {
    let blocks = (0..<UInt8(120)).map(block)
    #expect(try exchanges.readWithoutEncryption([service], Array(blocks.prefix(120))).command.count == 253)
    let code = NFCReaderError.Code.readerTransceiveErrorPacketTooLong
    expect(
      code,
      of: [
        { try exchanges.readWithoutEncryption([service], blocks + [block(120)]) },
        { try exchanges.readWithoutEncryption([service], Array(repeating: block(0), count: 256)) },
      ])
    #expect(try FeliCaExchanges.command(Data(repeating: 1, count: 254)).command.count == 254)
    #expect(errorCode { try FeliCaExchanges.command(Data(repeating: 1, count: 255)) } == code)
  }

  // MARK: Answers

  @Test func `Polling gives the identifiers and the requested data`() throws {
    let answer = packet(0x01, pmm)
    let polled = try polling(.systemCode).read(answer + [0x00, 0x03])
    #expect(polled == FeliCaExchanges.Polled(idm: idm, pmm: pmm, requestData: [0x00, 0x03]))
    // The card does not know the request.
    #expect(try polling(.communicationPerformance).read(answer).requestData == [])
    #expect(try polling(.noRequest).read(answer).idm == idm)
    try polling(.noRequest).refuses([answer + [0x00, 0x03]])
    try polling(.systemCode).refuses([answer + [0x00], answer.dropLast(), [0x03] + answer.dropFirst(), []])
  }

  @Test func `an answer has the response code and the IDm of its command`() throws {
    let exchange = try exchanges.requestResponse()
    #expect(try exchange.read(packet(0x05, [2])) == 2)
    exchange.refuses([packet(0x07, [2]), [0x05] + pmm + [2], packet(0x05), packet(0x05, [2, 0]), [0x05, 1], []])
  }

  @Test func `Request Service gives a version for each node`() throws {
    let exchange = try exchanges.requestService([service, service])
    let answer = packet(0x03, [2, 0x01, 0x00, 0xFF, 0xFF])
    #expect(try exchange.read(answer) == [Data([0x01, 0x00]), Data([0xFF, 0xFF])])
    exchange.refuses([packet(0x03, [1, 0x01, 0x00]), answer.dropLast(), answer + [0]])
  }

  @Test func `reading gives status flags, and blocks if the first flag is 0`() throws {
    let exchange = try exchanges.readWithoutEncryption([service], [block(0), block(1)])
    let data = [UInt8](0..<32)
    let answer = packet(0x07, [0x00, 0x00, 2] + data)
    let read = try exchange.read(answer)
    #expect(read.0 == 0 && read.1 == 0)
    #expect(read.2 == [Data(data[..<16]), Data(data[16...])])
    let refused = try exchange.read(packet(0x07, [0xFF, 0xA6]))
    #expect(refused.0 == 0xFF && refused.1 == 0xA6)
    #expect(refused.2 == [])
    exchange.refuses([
      packet(0x07, [0x01, 0xA6, 0]), packet(0x07, [0x00, 0x00]), packet(0x07, [0x00, 0x00, 1] + data.prefix(16)),
      packet(0x07, [0x00, 0x00, 1] + data), answer.dropLast(), packet(0x07, [0x00]),
    ])
  }

  @Test func `writing and Reset Mode give status flags alone`() throws {
    let write = try exchanges.writeWithoutEncryption([service], [block(0)], [Data(0..<16)])
    let written = try write.read(packet(0x09, [0x00, 0x71]))
    #expect(written.0 == 0x00 && written.1 == 0x71)
    write.refuses([packet(0x09, [0x00]), packet(0x09, [0x00, 0x00, 0x00])])
    let reset = try exchanges.resetMode().read(packet(0x3F, [0x01, 0x02]))
    #expect(reset.0 == 0x01 && reset.1 == 0x02)
  }

  @Test func `Request System Code keeps the card's order of bytes`() throws {
    let exchange = try exchanges.requestSystemCode()
    #expect(
      try exchange.read(packet(0x0D, [2, 0x00, 0x03, 0xFE, 0x00])) == [Data([0x00, 0x03]), Data([0xFE, 0x00])])
    #expect(try exchange.read(packet(0x0D, [0])) == [])
    exchange.refuses([packet(0x0D, [2, 0x00, 0x03]), packet(0x0D)])
  }

  @Test func `Request Service v2 gives one list, or two if the system has DES too`() throws {
    let exchange = try exchanges.requestServiceV2([service, service])
    let aes = try exchange.read(packet(0x33, [0x00, 0x00, 0x4F, 2, 1, 0, 2, 0]))
    #expect(aes.2 == .AES)
    #expect(aes.3 == [Data([1, 0]), Data([2, 0])])
    #expect(aes.4 == [])
    let both = try exchange.read(packet(0x33, [0x00, 0x00, 0x41, 2, 1, 0, 2, 0, 3, 0, 4, 0]))
    #expect(both.2 == .AES_DES)
    #expect(both.3 == [Data([1, 0]), Data([2, 0])])
    #expect(both.4 == [Data([3, 0]), Data([4, 0])])
    let refused = try exchange.read(packet(0x33, [0xFF, 0xA1]))
    #expect(refused.0 == 0xFF && refused.1 == 0xA1)
    #expect(refused.3 == [] && refused.4 == [])
    exchange.refuses([
      packet(0x33, [0x00, 0x00, 0x41, 2, 1, 0, 2, 0]), packet(0x33, [0x00, 0x00, 0x4F, 1, 1, 0]),
      packet(0x33, [0x00, 0x00, 0x00, 2, 1, 0, 2, 0]), packet(0x33, [0x00, 0x00]),
    ])
  }

  @Test func `Request Specification Version gives the basic version and those of the options`() throws {
    let exchange = try exchanges.requestSpecificationVersion()
    let answer = packet(0x3D, [0x00, 0x00, 0x00, 0x00, 0x05, 1, 0x00, 0x03])
    let versions = try exchange.read(answer)
    #expect(versions.2 == Data([0x00, 0x05]) && versions.3 == Data([0x00, 0x03]))
    let plain = try exchange.read(packet(0x3D, [0x00, 0x00, 0x00, 0x00, 0x05, 0]))
    #expect(plain.2 == Data([0x00, 0x05]) && plain.3 == Data())
    let refused = try exchange.read(packet(0x3D, [0x01, 0x02]))
    #expect(refused.0 == 1 && refused.1 == 2)
    #expect(refused.2 == Data() && refused.3 == Data())
    exchange.refuses([answer.dropLast()])
    // A format that is not known.
    exchange.refuses([packet(0x3D, [0x00, 0x00, 0x01, 0x00, 0x05, 0])])
  }

  @Test func `the answer to a command of the program's own is returned as it is`() throws {
    let exchange = try FeliCaExchanges.command(Data(packet(0x04)))
    #expect(try exchange.read([0x05, 9]) == Data([0x05, 9]))
    exchange.refuses([[]])
  }

  @Test func `an answer of a wrong length has its length in the user info`() throws {
    let exchange = try exchanges.requestResponse()
    let error = #expect(throws: NFCReaderError.self) { try exchange.read(packet(0x05)) }
    #expect(error?._nsError.userInfo[NFCTagResponseUnexpectedLengthErrorKey] as? NSNumber == NSNumber(value: 9))
  }
}
