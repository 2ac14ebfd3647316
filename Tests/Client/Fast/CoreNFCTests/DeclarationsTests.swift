import TagrouteClient
import Testing

@testable import CoreNFC

@Suite struct DeclarationsTests {
  private let prefix = "com.apple.developer.nfc.readersession."

  @Test func `a property list has three keys`() {
    let declarations = NFCDeclarations(propertyList: [
      "NFCReaderUsageDescription": "To read your card.", prefix + "iso7816.select-identifiers": ["D2760000850101"],
      prefix + "felica.systemcodes": ["0003", "FE00"], "CFBundleName": "menu",
    ])
    #expect(
      declarations
        == NFCDeclarations(
          usageDescription: "To read your card.", iso7816SelectIdentifiers: ["D2760000850101"],
          feliCaSystemCodes: ["0003", "FE00"]))
  }

  @Test func `an empty list is not the same as none`() {
    #expect(NFCDeclarations(propertyList: [:]) == NFCDeclarations())
    let empty = NFCDeclarations(propertyList: [prefix + "felica.systemcodes": [String]()])
    #expect(empty.feliCaSystemCodes == [])
    #expect(empty.iso7816SelectIdentifiers == nil)
  }

  @Test func `a value of another type counts as none`() {
    let declarations = NFCDeclarations(propertyList: [
      "NFCReaderUsageDescription": 5, prefix + "iso7816.select-identifiers": "D2760000850101",
      prefix + "felica.systemcodes": [3],
    ])
    #expect(declarations == NFCDeclarations())
  }

  @Test(
    arguments: [
      ("D2760000850101", [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01]), ("d276000085", [0xD2, 0x76, 0x00, 0x00, 0x85]),
      (String(repeating: "0f", count: 16), [UInt8](repeating: 0x0F, count: 16)),
    ] as [(String, [UInt8])])
  func `an application has 5 to 16 bytes`(text: String, bytes: [UInt8]) {
    #expect(NFCDeclarations.applications([text]) == [bytes])
  }

  @Test(arguments: [
    "", "D2760000", String(repeating: "0F", count: 17), "D27600008501010", "D2 76 00 00 85", "0xD276000085",
    "D27600008G", "*",
  ])
  func `an application of another form is left out`(text: String) {
    #expect(NFCDeclarations.applications([text, "A000000247"]) == [[0xA0, 0x00, 0x00, 0x02, 0x47]])
  }

  @Test func `systems have two bytes, the high byte first`() {
    #expect(NFCDeclarations.systems(["0003", "fe00", "8008"]) == [0x0003, 0xFE00, 0x8008])
  }

  @Test(arguments: ["", "03", "000003", "FF03", "03ff", "FFFF", "00 3", "0x03", "xxxx"])
  func `a system of another form, or with a byte FF, is left out`(text: String) {
    #expect(NFCDeclarations.systems([text, "0003"]) == [0x0003])
  }
}

@Suite struct TagPollingTests {
  @Test(
    arguments: [
      (.iso14443, [], ["type-2", "type-4a", "type-4b"]), (.iso15693, [], ["type-5"]), (.iso18092, [], ["type-3"]),
      (.pace, [], ["type-4a", "type-4b"]), ([.iso14443, .pace], [], ["type-2", "type-4a", "type-4b"]),
      (
        [.iso14443, .iso15693, .iso18092], ["D2760000850101"],
        ["type-2", "type-4a", "type-4b", "type-3", "type-5"]
      ),
    ] as [(NFCTagReaderSession.PollingOption, [String], [String])])
  func `each polling option names its kinds of tags`(
    kinds: NFCTagReaderSession.PollingOption, identifiers: [String], technologies: [String]
  ) throws {
    let options = try Self.options(kinds, identifiers, ["0003"])
    #expect(options.technologies == technologies)
  }

  @Test(
    arguments: [
      ([], [], [], .readerErrorUnsupportedFeature), (.iso18092, [], [], .readerErrorSecurityViolation),
      (.iso18092, [], ["FFFF", "12"], .readerErrorSecurityViolation),
      (.iso14443, ["D2", "xyz"], [], .readerErrorSecurityViolation),
    ] as [(NFCTagReaderSession.PollingOption, [String], [String], NFCReaderError.Code)])
  func `kinds of tags without a valid declaration have a code`(
    kinds: NFCTagReaderSession.PollingOption, identifiers: [String], systems: [String], code: NFCReaderError.Code
  ) {
    #expect(errorCode { try Self.options(kinds, identifiers, systems) } == code)
  }

  private static func options(
    _ kinds: NFCTagReaderSession.PollingOption, _ identifiers: [String], _ systems: [String]
  ) throws -> ReaderSessionOptions {
    let configuration = NFCTagReaderSession.Configuration(
      pollingOption: kinds, iso7816SelectIdentifiers: identifiers, feliCaSystemCodes: systems)
    return try TagPolling(.configured(configuration)).options()
  }
}
