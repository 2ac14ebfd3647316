import NDEF
import Testing

@Suite struct WiFiRecordTests {
  private static let type = Array(WiFiRecord.type.utf8)
  private static let name = "1045 0005 4775657374"

  private static func record(_ payload: String) -> NDEFRecord {
    NDEFRecord(typeNameFormat: .mediaType, type: type, payload: bytes(payload))
  }

  /// ndeflib 0.3.3 decodes these bytes to the same attributes.
  @Test func `a network is written and read`() throws {
    let network = WiFiNetwork(ssid: "Guest", passphrase: "visitors")
    let message = try NDEFMessage(records: [WiFiRecord([network]).record()])
    let encoded = bytes(
      """
      D2 17 34 6170706C69636174696F6E2F766E642E7766612E777363 100E 0030 1026 0001 01 1045 0005 4775657374
      1003 0002 0020 100F 0002 0008 1027 0008 76697369746F7273 1020 0006 FFFFFFFFFFFF
      """)
    #expect(try message.encoded() == encoded)
    #expect(try WiFiRecord(NDEFMessage(decoding: encoded).records[0]).networks == [network])
  }

  @Test func `an open network has no key`() throws {
    let network = WiFiNetwork(ssid: "Café", passphrase: nil)
    let record = try WiFiRecord([network]).record()
    let payload = """
      100E 0028 1026 0001 01 1045 0005 436166C3A9 1003 0002 0001 100F 0002 0001 1027 0000 1020 0006 FFFFFFFFFFFF
      """
    #expect(record.payload == bytes(payload))
    #expect(try WiFiRecord(record).networks == [network])
    #expect(network.name == "Café")
  }

  @Test(
    arguments: [
      // Attributes in another order, and those of other containers and versions.
      ("100E 0019 1027 0008 76697369746F7273 104A 0000 1045 0005 4775657374", WiFiNetwork.Authentication.wpa2),
      ("104A 0001 10 100E 0009 1045 0005 4775657374 1049 0006 00372A000120", .open),
      ("100E 000F 1045 0005 4775657374 1003 0002 0022", [.wpa, .wpa2]),
      ("100E 000F 1045 0005 4775657374 1003 0002 0100", WiFiNetwork.Authentication(rawValue: 0x100)),
    ] as [(String, WiFiNetwork.Authentication)])
  func `attributes may be missing and in any order`(payload: String, authentication: WiFiNetwork.Authentication) throws
  {
    let network = try #require(try WiFiRecord(Self.record(payload)).networks.first)
    #expect(network.name == "Guest" && network.authentication == authentication)
  }

  @Test func `the type of the record has no case`() throws {
    var record = Self.record("100E 0009" + Self.name)
    record.type = Array("Application/VND.wfa.WSC".utf8)
    #expect(try WiFiRecord(record).networks.count == 1)
    record.typeNameFormat = .external
    #expect(throws: NDEFError.self) { try WiFiRecord(record) }
  }

  @Test(
    arguments: [
      ("", .nestedRecord, 0), ("10", .truncated, 0), ("100E 00", .truncated, 0), ("100E 0001", .truncated, 2),
      ("100E FFFF" + name, .truncated, 2), ("100E 0000", .nestedRecord, 0), ("100E 0004 1045 0005", .truncated, 6),
      // Lengths of an SSID, a key, an authentication and an encryption.
      ("100E 0004 1045 0000", .payload, 6), ("100E 000A 1003 0001 01 1045 0001 41", .payload, 6),
      ("100E 000C 1045 0001 41 100F 0003 000001", .payload, 11),
      ("100E 0012" + name + name, .nestedRecord, 13), ("1045 0001 41", .nestedRecord, 5),
    ] as [(String, NDEFError.Code, Int)])
  func `a malformed record is rejected`(payload: String, code: NDEFError.Code, offset: Int) {
    let error = #expect(throws: NDEFError.self) { try WiFiRecord(Self.record(payload)) }
    #expect(error?.code == code && error?.offset == offset, "\(payload): \(String(describing: error))")
  }

  @Test func `overlong names, keys and lists are rejected`() throws {
    func attribute(_ type: UInt8, _ value: [UInt8]) -> [UInt8] {
      [0x10, type, UInt8(value.count >> 8), UInt8(value.count & 0xFF)] + value
    }
    func code(_ payload: [UInt8]) -> NDEFError.Code? {
      var record = Self.record("")
      record.payload = payload
      do throws(NDEFError) {
        _ = try WiFiRecord(record)
        return nil
      } catch {
        return error.code
      }
    }
    let name = attribute(0x45, [UInt8](repeating: 0x41, count: 32))
    let key = attribute(0x27, [UInt8](repeating: 0x41, count: 64))
    #expect(code(attribute(0x0E, name + key)) == nil)
    #expect(code(attribute(0x0E, attribute(0x45, [UInt8](repeating: 0x41, count: 33)))) == .payload)
    #expect(code(attribute(0x0E, name + attribute(0x27, [UInt8](repeating: 0x41, count: 65)))) == .payload)
    let networks = [[UInt8]](repeating: attribute(0x0E, name), count: WiFiRecord.mostNetworks)
    #expect(code(networks.flatMap(\.self)) == nil)
    #expect(code(networks.flatMap(\.self) + attribute(0x0E, name)) == .limit)
  }

  @Test(
    arguments: [
      ("12345678", true), ("1234567", false), (String(repeating: "a", count: 63), true),
      (String(repeating: "aF", count: 32), true), (String(repeating: "ag", count: 32), false),
      (String(repeating: "a", count: 65), false), ("pässword", false), ("pass\nword", false), ("", false),
    ])
  func `a passphrase has the form of IEEE 802.11`(passphrase: String, isValid: Bool) {
    let network = WiFiNetwork(ssid: "Guest", passphrase: passphrase)
    #expect((network.keyProblem == nil) == isValid)
    #expect(((try? WiFiRecord([network]).record()) != nil) == isValid)
  }

  @Test func `a record needs networks whose names have 1 to 32 bytes`() {
    for networks in [
      [], [WiFiNetwork(ssid: "", passphrase: nil)],
      [WiFiNetwork(ssid: String(repeating: "a", count: 33), passphrase: nil)],
      [WiFiNetwork](repeating: WiFiNetwork(ssid: "a", passphrase: nil), count: 17),
    ] {
      #expect(throws: NDEFError.self) { try WiFiRecord(networks).record() }
    }
  }
}
