/// Where an MQTT broker listens.
package struct BrokerAddress: Sendable, Hashable, CustomStringConvertible {
  /// Whether the connection is encrypted, and the broker's certificate verified.
  package let isEncrypted: Bool
  /// A host name, an IPv4 address, or an IPv6 address without brackets.
  package let host: String
  /// The TCP port.
  package let port: UInt16

  /// The port for a scheme without one.
  private static let ports: [(scheme: String, isEncrypted: Bool, port: UInt16)] = [
    ("mqtts://", true, 8883), ("mqtt://", false, 1883),
  ]

  /// Parses `mqtts://HOST[:PORT]` or `mqtt://HOST[:PORT]`, and an IPv6 address in brackets. Nil for any other text: a
  /// user name, a password or a path has no place in it.
  package init?(_ text: String) {
    guard text.utf8.count <= 300, let scheme = Self.ports.first(where: { text.hasPrefix($0.scheme) }) else {
      return nil
    }
    let authority = text.dropFirst(scheme.scheme.count)
    var rest: Substring
    if authority.hasPrefix("[") {
      guard let end = authority.firstIndex(of: "]") else { return nil }
      host = String(authority[authority.index(after: authority.startIndex)..<end])
      guard host.utf8.allSatisfy({ Self.isHexDigit($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") }),
        host.contains(":")
      else { return nil }
      rest = authority[authority.index(after: end)...]
    } else {
      let end = authority.firstIndex(of: ":") ?? authority.endIndex
      host = String(authority[..<end])
      guard (1...253).contains(host.utf8.count), !host.hasPrefix("-"), host.utf8.allSatisfy(Self.isInName) else {
        return nil
      }
      rest = authority[end...]
    }
    isEncrypted = scheme.isEncrypted
    guard !rest.isEmpty else {
      port = scheme.port
      return
    }
    guard rest.popFirst() == ":" else { return nil }
    guard rest.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt16(rest), number > 0 else {
      return nil
    }
    port = number
  }

  /// Whether the name or address always means this machine.
  package var isLoopback: Bool {
    host == "localhost" || host == "::1"
      || host.hasPrefix("127.") && host.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
  }

  /// The address as a file has it, always with the port.
  package var description: String {
    "\(isEncrypted ? "mqtts" : "mqtt")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
  }

  private static func isHexDigit(_ byte: UInt8) -> Bool { Character(Unicode.Scalar(byte)).isHexDigit }

  private static func isInName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
