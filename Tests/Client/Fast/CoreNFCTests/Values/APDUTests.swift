import Foundation
import Testing

@testable import CoreNFC

@Suite struct APDUTests {
  /// The bytes of a command with the header 00 A4 04 0C.
  struct Row: Sendable, CustomTestStringConvertible {
    /// The number of data bytes, each AB.
    let data: Int
    /// Le.
    let expected: Int
    /// The bytes between the header and the data.
    let lc: String
    /// The bytes after the data.
    let le: String

    var testDescription: String { "\(data) bytes, Le \(expected)" }
    var field: [UInt8] { [UInt8](repeating: 0xAB, count: data) }
    var bytes: [UInt8] {
      [0x00, 0xA4, 0x04, 0x0C] + hexadecimalBytes(lc) + field + hexadecimalBytes(le)
    }
  }

  static let rows = [
    // Case 1.
    Row(data: 0, expected: -1, lc: "", le: ""),
    // Case 2, short.
    Row(data: 0, expected: 1, lc: "", le: "01"),
    Row(data: 0, expected: 255, lc: "", le: "FF"),
    Row(data: 0, expected: 256, lc: "", le: "00"),
    // Case 2, extended.
    Row(data: 0, expected: 257, lc: "", le: "00 0101"),
    Row(data: 0, expected: 65535, lc: "", le: "00 FFFF"),
    Row(data: 0, expected: 65536, lc: "", le: "00 0000"),
    // Case 3, short.
    Row(data: 1, expected: -1, lc: "01", le: ""),
    Row(data: 255, expected: -1, lc: "FF", le: ""),
    // Case 3, extended.
    Row(data: 256, expected: -1, lc: "00 0100", le: ""),
    Row(data: 65535, expected: -1, lc: "00 FFFF", le: ""),
    // Case 4, short.
    Row(data: 1, expected: 1, lc: "01", le: "01"),
    Row(data: 7, expected: 256, lc: "07", le: "00"),
    Row(data: 255, expected: 255, lc: "FF", le: "FF"),
    // Case 4, extended because of the data.
    Row(data: 256, expected: 1, lc: "00 0100", le: "0001"),
    Row(data: 256, expected: 256, lc: "00 0100", le: "0100"),
    Row(data: 65535, expected: 65536, lc: "00 FFFF", le: "0000"),
    // Case 4, extended because of the expected answer.
    Row(data: 1, expected: 257, lc: "00 0001", le: "0101"),
    Row(data: 1, expected: 65536, lc: "00 0001", le: "0000"),
  ]

  private func command(_ data: Data, _ expected: Int) -> NFCISO7816APDU {
    NFCISO7816APDU(
      instructionClass: 0x00, instructionCode: 0xA4, p1Parameter: 0x04, p2Parameter: 0x0C, data: data,
      expectedResponseLength: expected)
  }

  @Test(arguments: rows)
  func `a command has the bytes of its case, which are decoded`(row: Row) throws {
    let decoded = try #require(NFCISO7816APDU(data: Data(row.bytes)))
    #expect(decoded.data == (row.data == 0 ? nil : Data(row.field)))
    let apdu = command(Data(row.field), row.expected)
    #expect(apdu.data == Data(row.field))
    for apdu in [apdu, decoded] {
      #expect(apdu.encoded == row.bytes)
      let header = [apdu.instructionClass, apdu.instructionCode, apdu.p1Parameter, apdu.p2Parameter]
      #expect(header == [0x00, 0xA4, 0x04, 0x0C])
      #expect(apdu.expectedResponseLength == row.expected)
    }
  }

  @Test(arguments: [
    ("00B00000 000010", 16, ""), ("00B00000 000100", 256, ""), ("00B00000 000002 ABCD", -1, "ABCD"),
    ("00B00000 000002 ABCD 0010", 16, "ABCD"), ("00B00000 000002 ABCD 0100", 256, "ABCD"),
  ])
  func `an extended form that is not needed is kept`(hex: String, expected: Int, data: String) throws {
    let bytes = hexadecimalBytes(hex)
    let apdu = try #require(NFCISO7816APDU(data: Data(bytes)))
    #expect(apdu.expectedResponseLength == expected)
    #expect(apdu.data.map { Array($0) } ?? [] == hexadecimalBytes(data))
    #expect(apdu.encoded == bytes)
  }

  @Test(arguments: [
    // Shorter than a header.
    "", "00", "00A404",
    // Lc, and fewer bytes than it says, or more than Le after them.
    "00A40400 02 AB", "00A40400 02 ABCD 00 00", "00A40400 02 ABCD 0000 00",
    // An extended length that is cut off, or zero.
    "00A40400 00 01", "00A40400 000000 AB", "00A40400 000000 AB 0000",
    // An extended Lc, and fewer bytes than it says.
    "00A40400 000003 ABCD", "00A40400 000100 AB",
    // An extended Lc with a short Le, or with more than Le.
    "00A40400 000002 ABCD 00", "00A40400 000002 ABCD 000000",
  ])
  func `broken bytes are no command`(hex: String) {
    #expect(NFCISO7816APDU(data: Data(hexadecimalBytes(hex))) == nil)
  }

  @Test func `a length of zero is sent as zeros, and any negative length as none`() {
    #expect(command(Data(), 0).encoded == hexadecimalBytes("00A4040C 00"))
    #expect(command(Data([0xAB]), 0).encoded == hexadecimalBytes("00A4040C 01 AB 00"))
    #expect(command(Data(count: 256), 0).encoded.suffix(2) == [0, 0])
    #expect(command(Data(), -2).encoded == hexadecimalBytes("00A4040C"))
  }

  @Test func `a command that is too long for its lengths has no bytes`() {
    #expect(command(Data(count: 65536), -1).encoded.isEmpty)
    #expect(command(Data(), 65537).encoded.isEmpty)
    #expect(command(Data(), .max).encoded.isEmpty)
    #expect(command(Data(), .min).encoded.count == 4)
  }

  @Test func `a part of other data is decoded from its own start`() throws {
    let data = Data(hexadecimalBytes("FFFF 00A40400 02 ABCD")).dropFirst(2)
    #expect(try #require(NFCISO7816APDU(data: data)).encoded == hexadecimalBytes("00A40400 02 ABCD"))
  }

  @Test func `a copy is the same command, and an answer holds its parts`() {
    let apdu = command(Data([1]), 2)
    #expect(apdu.copy() as? NFCISO7816APDU === apdu)
    let answer = NFCISO7816ResponseAPDU(statusWord1: 0x61, statusWord2: 0x10, paylaod: Data([1]))
    #expect(answer.statusWord1 == 0x61)
    #expect(answer.statusWord2 == 0x10)
    #expect(answer.payload == Data([1]))
  }
}

@Suite struct ConfigurationTests {
  @Test func `a copy of a configuration has its values and changes alone`() throws {
    let configuration = NFCTagCommandConfiguration()
    #expect(configuration.maximumRetries == 0)
    #expect(configuration.retryInterval == 0)
    configuration.maximumRetries = 3
    configuration.retryInterval = 0.5
    let copy = try #require(configuration.copy() as? NFCTagCommandConfiguration)
    #expect(copy !== configuration)
    #expect(copy.maximumRetries == 3)
    #expect(copy.retryInterval == 0.5)
    copy.maximumRetries = 1
    #expect(configuration.maximumRetries == 3)
  }

  @Test func `a custom command has its values, and a copy of the same class`() throws {
    let plain = NFCISO15693CustomCommandConfiguration(
      manufacturerCode: 7, customCommandCode: 0xA1, requestParameters: nil)
    #expect(plain.requestParameters.isEmpty)
    #expect(plain.maximumRetries == 0)
    let configuration = NFCISO15693CustomCommandConfiguration(
      manufacturerCode: 7, customCommandCode: 0xA1, requestParameters: Data([1]), maximumRetries: 5,
      retryInterval: 0.1)
    let copy = try #require(configuration.copy() as? NFCISO15693CustomCommandConfiguration)
    #expect(copy !== configuration)
    #expect(copy.manufacturerCode == 7)
    #expect(copy.customCommandCode == 0xA1)
    #expect(copy.requestParameters == Data([1]))
    #expect(copy.maximumRetries == 5)
    #expect(copy.retryInterval == 0.1)
  }

  @Test func `the reading of blocks has its values, and a copy of the same class`() throws {
    let plain = NFCISO15693ReadMultipleBlocksConfiguration(range: NSRange(location: 1, length: 2), chunkSize: 3)
    #expect(plain.maximumRetries == 0)
    let configuration = NFCISO15693ReadMultipleBlocksConfiguration(
      range: NSRange(location: 1, length: 2), chunkSize: 3, maximumRetries: 4, retryInterval: 5)
    let copy = try #require(configuration.copy() as? NFCISO15693ReadMultipleBlocksConfiguration)
    #expect(copy !== configuration)
    #expect(copy.range == NSRange(location: 1, length: 2))
    #expect(copy.chunkSize == 3)
    #expect(copy.maximumRetries == 4)
    #expect(copy.retryInterval == 5)
  }

  @Test func `a configuration and an answer of a wallet can be copied`() throws {
    let url = URL(string: "https://example.com")
    let configuration = NFCVASCommandConfiguration(
      vasMode: .normal, passTypeIdentifier: "pass.com.example", url: url)
    let copy = try #require(configuration.copy() as? NFCVASCommandConfiguration)
    #expect(copy !== configuration)
    #expect(copy.mode == .normal)
    #expect(copy.passTypeIdentifier == "pass.com.example")
    #expect(copy.url == url)
    let response = NFCVASResponse(status: .success, vasData: Data([1]), mobileToken: Data([2]))
    #expect(response.copy() as? NFCVASResponse === response)
    #expect(response.vasData == Data([1]))
    #expect(response.mobileToken == Data([2]))
  }
}
