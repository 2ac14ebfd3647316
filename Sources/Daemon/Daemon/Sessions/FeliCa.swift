/// Command codes of JIS X 6319-4, and of Sony's FeliCa Card User's Manual.
enum FeliCa {
  static let polling: UInt8 = 0x00
  static let write: UInt8 = 0x08
  private static let requestServiceV2: UInt8 = 0x32
  private static let requestSpecificationVersion: UInt8 = 0x3C
  /// Returns the card to its mode after power-on. This ends an authentication, and changes no data.
  private static let resetMode: UInt8 = 0x3E
  /// Request Service, Request Response, Read and Write Without Encryption, Request System Code, and the three above.
  static let commands: Set<UInt8> = [
    0x02, 0x04, 0x06, write, 0x0C, requestServiceV2, requestSpecificationVersion, resetMode,
  ]

  /// Whether a command that only the manual describes has its parameters, which follow the IDm. A card ignores the
  /// other commands if they are malformed.
  static func hasKnownForm(_ command: [UInt8]) -> Bool {
    let parameters = command.dropFirst(9)
    switch command.first {
    // The number of nodes, and their codes of two bytes.
    case requestServiceV2:
      guard let count = parameters.first else { return false }
      return (1...32).contains(count) && parameters.count == 1 + 2 * Int(count)
    // Two reserved bytes.
    case requestSpecificationVersion, resetMode: return parameters.elementsEqual([0x00, 0x00])
    default: return true
    }
  }
}
