/// The least number of exchanges that read a message, calculated from the specifications and using only their commands.
enum LeastExchanges {
  /// `size` is in bytes. `tag` is a name in `docs/development/exchanges.md`. Returns nil if the name is unknown.
  static func reading(_ size: Int, from tag: String) -> Int? {
    switch tag {
    case "Topaz 96": type1(size, controls: 0)
    case "Topaz 512": type1(size, controls: 10)
    case "NTAG213 as it leaves the factory": type2(size, controls: 5)
    case "FeliCa Lite-S": 1 + type3(size, blocksAtOnce: 4)
    case "FeliCa Standard, Nbr 12": type3(size, blocksAtOnce: 12)
    case "Type 4A, MLe 59", "Type 4B, MLe 59": type4(size, answer: 59)
    case "Type 4A, MLe 246": type4(size, answer: 246)
    case "Type 4A, mapping 3.0, MLe 246": type4(size, answer: 246, lengthSize: 4)
    case "MIFARE Classic 1K", "MIFARE Classic 4K": classic(size)
    case let name where name.hasPrefix("Ultralight") || name.hasPrefix("NTAG"): type2(size, controls: 0)
    default: nil
    }
  }

  private static func tlv(_ size: Int) -> Int { size + (size < 0xFF ? 2 : 4) }

  private static func pieces(_ count: Int, of size: Int) -> Int { (count + size - 1) / size }

  /// RALL up to byte 103. If the message is longer, RSEG for each 128 bytes from byte 128.
  private static func type1(_ size: Int, controls: Int) -> Int {
    1 + pieces(max(0, controls + tlv(size) - (104 - 12)), of: 128)
  }

  /// READ for each four pages within a sector, from page 3. SECTOR SELECT takes two exchanges.
  private static func type2(_ size: Int, controls: Int) -> Int {
    let pages = pieces(controls + tlv(size), of: 4) + 1
    let inFirst = min(pages, 256 - 3)
    return pieces(inFirst, of: 4) + (pages > inFirst ? 2 + pieces(pages - inFirst, of: 4) : 0)
  }

  /// The attribute information block, then Nbr blocks at a time.
  private static func type3(_ size: Int, blocksAtOnce: Int) -> Int {
    1 + pieces(pieces(size, of: 16), of: blocksAtOnce)
  }

  /// Three SELECTs, the capability container, and READ BINARY. Before MLe is known, a command reads 15 bytes. READ
  /// BINARY is plain up to the offset 7FFF, and then uses data objects: their tag and length take three bytes.
  private static func type4(_ size: Int, answer: Int, lengthSize: Int = 2) -> Int {
    let end = size + lengthSize
    let plain = min(pieces(end, of: answer), 0x7FFF / answer + 1)
    let container = lengthSize == 4 ? 17 : 15
    return 3 + pieces(container, of: 15) + plain + pieces(max(0, end - plain * answer), of: answer - 3)
  }

  /// An authentication for each sector and a READ for each block of the directory and the message. Beyond sector 15,
  /// the second part of the directory is needed.
  private static func classic(_ size: Int) -> Int {
    let blocks = pieces(tlv(size), of: 16)
    let inSmall = min(blocks, 30 * 3)
    let sectors = pieces(inSmall, of: 3) + pieces(blocks - inSmall, of: 15)
    return 3 + (sectors > 15 ? 4 : 0) + sectors + blocks
  }
}
