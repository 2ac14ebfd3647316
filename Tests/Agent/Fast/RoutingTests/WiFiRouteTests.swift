import NDEF
import Routing
import Testing

@Suite struct WiFiRouteTests {
  private static let type = Array(WiFiRecord.type.utf8)

  private func attribute(_ type: UInt8, _ value: [UInt8]) -> [UInt8] {
    [0x10, type, UInt8(value.count >> 8), UInt8(value.count & 0xFF)] + value
  }

  private func record(
    _ name: [UInt8] = Array("Guest".utf8), _ authentication: [UInt8]? = [0, 0x20], _ encryption: [UInt8]? = [0, 8],
    key: String = "visitors", type: [UInt8] = WiFiRouteTests.type
  ) -> NDEFRecord {
    let value =
      attribute(0x45, name) + (authentication.map { attribute(0x03, $0) } ?? [])
      + (encryption.map { attribute(0x0F, $0) } ?? []) + (key.isEmpty ? [] : attribute(0x27, Array(key.utf8)))
    return NDEFRecord(typeNameFormat: .mediaType, type: type, payload: attribute(0x0E, value))
  }

  private func route(_ records: NDEFRecord..., registry: Registry = Registry()) -> Route {
    registry.route(for: NDEFMessage(records: records))
  }

  @Test func `NetworkManager gets a network that no handler takes`() throws {
    let route = route(record())
    #expect(route.kind == .wifi && route.handler == nil && route.record?.number == 1)
    #expect(route.network?.name == "Guest" && route.network?.isOpen == false && route.network?.obstacle == nil)
    #expect(!route.handsOverMessage && route.uri == nil)
    let message = NDEFMessage(records: [record()])
    #expect(try route.record?.network(in: message)?.key == Array("visitors".utf8))
    let other = NDEFMessage(records: [NDEFRecord(typeNameFormat: .mediaType, type: Array("a/b".utf8))])
    #expect(try route.record?.network(in: other) == nil)
  }

  @Test func `neither the name nor the password is in the reason and the steps`() {
    for route in [route(record()), route(record([0x41], [0, 1])), route(record(key: "short"))] {
      let words = [route.reason] + route.steps.map(\.description)
      #expect(words.allSatisfy { !$0.contains("Guest") && !$0.contains("visitors") && !$0.contains("short") })
    }
  }

  @Test func `a handler of the type comes first, and a default application never gets the password`() {
    let declaration = HandlerDeclaration(application: application("radio"), mimeTypes: [WiFiRecord.type])
    let handled = route(record(), registry: Registry(declarations: [declaration]))
    #expect(handled.kind == .record && handled.handler?.desktopID == "radio.desktop" && handled.network == nil)
    var registry = Registry()
    registry.typeDefaults[WiFiRecord.type] = .application(application("files"))
    #expect(route(record(), registry: registry).kind == .wifi)
    #expect(Registry.typeOfDefault(for: NDEFMessage(records: [record()])) == nil)
    #expect(route(record(), URIRecord("https://example.com/").record()).network == nil)
  }

  @Test(
    arguments: [
      ([0, 0x20], [0, 8], "visitors", nil), ([0, 0x22], [0, 0x0C], "visitors", nil),
      ([0, 2], [0, 4], "visitors", nil), ([0, 0x20], [0, 0], "visitors", nil),
      ([0, 0x20], [0, 8], String(repeating: "a", count: 63), nil),
      ([0, 0x20], [0, 8], String(repeating: "aF", count: 32), nil),
      ([0, 1], [0, 1], "", nil), (nil, nil, "", nil), (nil, nil, "visitors", nil),
      // Passwords
      ([0, 0x20], [0, 8], "1234567", .password), ([0, 0x20], [0, 8], "", .password),
      ([0, 0x20], [0, 8], String(repeating: "g", count: 64), .password), ([0, 1], [0, 1], "visitors", .password),
      ([0, 0x20], [0, 8], "pass\u{1}word", .password),
      // Authentication
      ([0, 4], [0, 2], "12345", .wep), ([0, 1], [0, 2], "12345", .wep), ([0, 0x10], [0, 8], "visitors", .enterprise),
      ([0, 8], [0, 8], "visitors", .enterprise), ([0, 0x18], [0, 8], "visitors", .enterprise),
      ([0, 0x30], [0, 8], "visitors", .enterprise), ([0, 0], [0, 8], "visitors", .unknownAuthentication),
      ([0, 0x21], [0, 8], "visitors", .unknownAuthentication), ([1, 0], [0, 8], "visitors", .unknownAuthentication),
      ([0xFF, 0xFF], [0, 8], "visitors", .unknownAuthentication),
      ([0, 0x20], [0, 0x10], "visitors", .unknownEncryption), ([0, 0x20], [0, 2], "visitors", .wep),
    ] as [([UInt8]?, [UInt8]?, String, WiFiOffer.Obstacle?)])
  func `only open networks and those with a password of WPA are joined`(
    authentication: [UInt8]?, encryption: [UInt8]?, key: String, obstacle: WiFiOffer.Obstacle?
  ) {
    let route = route(record([0x41], authentication, encryption, key: key))
    #expect(route.network?.obstacle == obstacle)
    #expect(route.kind == (obstacle == nil ? .wifi : .none))
  }

  @Test func `malformed settings are ignored, with a reason`() {
    let repeated = attribute(0x45, [0x41]) + attribute(0x45, [0x42])
    for payload in [
      [], [0x10], attribute(0x0E, []), attribute(0x0E, attribute(0x45, [])), attribute(0x0E, repeated),
      attribute(0x0E, attribute(0x45, [UInt8](repeating: 0x41, count: 33))),
      attribute(0x0E, attribute(0x45, [0x41]) + attribute(0x27, [UInt8](repeating: 0x41, count: 65))),
      attribute(0x0E, [0x10, 0x45, 0xFF, 0xFF, 0x41]),
    ] {
      let route = route(NDEFRecord(typeNameFormat: .mediaType, type: Self.type, payload: payload))
      #expect(route.kind == .none && route.network == nil && route.record != nil)
      #expect(route.reason.contains("cannot be decoded"))
    }
  }

  @Test func `the type may have parameters and upper case`() {
    #expect(route(record(type: Array("Application/VND.wfa.wsc;a=b".utf8))).kind == .wifi)
  }

  @Test(
    arguments: [
      ("Guest", "Guest"), ("Café 2", "Café 2"), ("日本語", "日本語"), ("🦀", "🦀"), ("it's", "it's"),
      (" a  b ", "\\x20a \\x20b\\x20"), ("a\u{0}b\nc", "a\\x00b\\x0Ac"), ("a\u{202E}b", "a\\xE2\\x80\\xAEb"),
      ("a\u{200B}b", "a\\xE2\\x80\\x8Bb"), ("a”?", "a\\xE2\\x80\\x9D?"), ("a\"b", "a\\x22b"), ("a\\x", "a\\x5Cx"),
      ("\u{301}a", "\\xCC\\x81a"), ("a \u{301}", "a \\xCC\\x81"),
      ("\u{3164}", "\\xE3\\x85\\xA4"), ("\u{2800}", "\\xE2\\xA0\\x80"),
    ])
  func `what cannot be seen in a name is escaped`(name: String, shown: String) {
    #expect(WiFiOffer(WiFiNetwork(ssid: name, passphrase: nil)).name == shown)
  }

  @Test func `a name that is not UTF-8 is escaped`() {
    #expect(route(record([0x41, 0xFF, 0x20, 0x0A])).network?.name == "A\\xFF\\x20\\x0A")
  }
}
