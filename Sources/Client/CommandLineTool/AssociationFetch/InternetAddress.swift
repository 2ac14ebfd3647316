/// Tells addresses on the Internet from those of this machine and its networks.
enum InternetAddress {
  /// IPv4 networks that are not globally reachable, or are not one host, as address and prefix length. (IANA IPv4
  /// Special-Purpose Address Registry, RFC 6890; multicast, RFC 5771.)
  private static let specialIPv4: [(UInt32, UInt32)] = [
    (0x0000_0000, 8), (0x0A00_0000, 8), (0x6440_0000, 10), (0x7F00_0000, 8), (0xA9FE_0000, 16), (0xAC10_0000, 12),
    (0xC000_0000, 24), (0xC000_0200, 24), (0xC058_6300, 24), (0xC0A8_0000, 16), (0xC612_0000, 15), (0xC633_6400, 24),
    (0xCB00_7100, 24), (0xE000_0000, 4), (0xF000_0000, 4),
  ]

  /// Whether an address of 4 or 16 bytes, in network order, is a host that anyone on the Internet can reach.
  static func isGlobal(_ address: [UInt8]) -> Bool {
    switch address.count {
    case 4:
      let value = address.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      return !specialIPv4.contains { value >> (32 - $0.1) == $0.0 >> (32 - $0.1) }
    case 16:
      // Networks that reach IPv4 only through a translator put IPv4 addresses into this prefix (RFC 6052).
      if address.starts(with: [0x00, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]) {
        return isGlobal(Array(address.suffix(4)))
      }
      // Only 2000::/3 is global unicast (IANA IPv6 Special-Purpose Address Registry). Of that, these are not global:
      // protocol assignments and Teredo (2001::/23), documentation (2001:db8::/32, 3fff::/20) and 6to4 (2002::/16),
      // which hides IPv4 addresses.
      guard address[0] & 0xE0 == 0x20 else { return false }
      if address[0] == 0x20, address[1] == 0x01 {
        return address[2] >= 0x02 && !(address[2] == 0x0D && address[3] == 0xB8)
      }
      if address[0] == 0x20, address[1] == 0x02 { return false }
      return !(address[0] == 0x3F && address[1] == 0xFF && address[2] & 0xF0 == 0)
    default: return false
    }
  }
}
