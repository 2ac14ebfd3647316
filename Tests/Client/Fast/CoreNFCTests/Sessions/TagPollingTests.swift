import TagrouteClient
import Testing

@testable import CoreNFC

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
