/// How much room a common kind of tag has.
package struct TagRoom: Sendable, Hashable {
  /// The name that its maker prints.
  package let name: String
  /// The size of the longest message that fits, in bytes.
  package let capacity: Int
  /// Whether some tags of this kind have less.
  private let varies: Bool

  private init(_ name: String, _ capacity: Int, varies: Bool = false) {
    (self.name, self.capacity, self.varies) = (name, capacity, varies)
  }

  /// By size. Sources: the longest messages in docs/development/exchanges.md, which a test reads from each simulated
  /// tag, and, for the kinds that are not in it, the capacities in BlankTagTests (ICODE SLIX), Type3TagTests (FeliCa
  /// Lite-S) and Type4TagTests (mapping version 2). An NTAG213 has a lock control TLV when it leaves the factory. That
  /// takes five of its 142 bytes.
  package static let common = [
    TagRoom("MIFARE Ultralight", 46), TagRoom("ICODE SLIX", 102), TagRoom("NTAG213", 137),
    TagRoom("MIFARE Ultralight C", 142), TagRoom("FeliCa Lite-S", 208), TagRoom("NTAG215", 492),
    TagRoom("MIFARE Classic 1K", 716), TagRoom("NTAG216", 868), TagRoom("MIFARE Classic 4K", 3356),
    TagRoom("NFC Forum Type 4", 32_766, varies: true),
  ]

  package func fits(_ size: Int) -> Bool { size <= capacity }

  /// For a message of this size.
  package func words(_ size: Int) -> String {
    guard fits(size) else {
      return translated("Does not fit: {number} bytes too long", ["number": "\(size - capacity)"])
    }
    return varies
      ? translated("Fits if the card has so much room: up to {room} bytes", ["room": "\(capacity)"])
      : translated("Fits: {number} of {room} bytes are left", ["number": "\(capacity - size)", "room": "\(capacity)"])
  }

  /// The smallest of the common tags that has room for a message of this size.
  package static func summary(_ size: Int) -> String {
    guard let smallest = common.first(where: { $0.fits(size) }) else {
      return translated("Does not fit on any of these tags")
    }
    // Translators: the name of the smallest kind of tag on which a message fits.
    return translated("Fits on: {tag}, and on larger tags", ["tag": smallest.name])
  }
}
