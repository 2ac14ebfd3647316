/// Formatting a tag with the keys and access bits of its delivery (NXP AN1305, section 8; AN10787 for the directory).
///
/// Sectors 1 to 15 get NDEF. The sectors behind them on a 4K tag stay as they are, which a directory of version 1
/// allows. Key B stays the one of the delivery, so that other programs can format the tag again.
extension MIFAREClassicTag {
  private static let first = MIFAREClassicSector(number: 0)
  private static let sectors = (1...15).map(MIFAREClassicSector.init)
  /// The first block of the data area: an NDEF TLV without a message, and a terminator.
  private static let emptyMessage: [UInt8] = [0x03, 0x00, 0xFE] + [UInt8](repeating: 0, count: 13)

  /// A tag is also blank if an earlier attempt has formatted some of its sectors, because sector 0 comes last.
  func isBlank(over channel: inout some TagChannel) throws(TagWriteError) -> Bool {
    // A Mini has less than 16 sectors.
    guard MIFAREClassicSector.count(sak: sak) >= 16 else { return false }
    var access = MIFAREClassicAccess(uid: uid, sak: sak)
    guard try access.authenticate(Self.first, .delivery, &channel) else { return false }
    return try access.trailer(of: Self.first, .delivery, &channel).isDelivered
  }

  /// Examines every sector before it writes the first one, and writes the directory in sector 0 last. A tag that is
  /// removed in between can be formatted again.
  func format(over channel: inout some TagChannel) throws(TagWriteError) {
    var access = MIFAREClassicAccess(uid: uid, sak: sak)
    var open: [MIFAREClassicSector] = []
    for sector in Self.sectors {
      if try access.authenticate(sector, .delivery, &channel) {
        guard try access.trailer(of: sector, .delivery, &channel).isDelivered else { throw Self.inUse(sector) }
        try Self.checkUnused(sector, .delivery, &access, &channel)
        open.append(sector)
      } else {
        guard try access.authenticate(sector, .ndef, &channel),
          try access.trailer(of: sector, .ndef, &channel).letsEverybodyWrite
        else { throw Self.inUse(sector) }
        try Self.checkUnused(sector, .ndef, &access, &channel)
      }
    }
    guard try access.authenticate(Self.first, .delivery, &channel),
      try access.trailer(of: Self.first, .delivery, &channel).isDelivered
    else { throw Self.inUse(Self.first) }
    try Self.checkUnused(Self.first, .delivery, &access, &channel)
    for sector in open {
      if sector.number == 1 {
        try access.write(Self.emptyMessage, toBlock: sector.firstBlock, of: sector, .delivery, &channel)
      }
      try access.writeTrailer(MIFAREClassicTrailer.formatted(.ndef), of: sector, .delivery, &channel)
    }
    let directory = MIFAREApplicationDirectory.allNDEF
    try access.write(Array(directory[..<16]), toBlock: 1, of: Self.first, .delivery, &channel)
    try access.write(Array(directory[16...]), toBlock: 2, of: Self.first, .delivery, &channel)
    try access.writeTrailer(MIFAREClassicTrailer.formatted(.directory), of: Self.first, .delivery, &channel)
  }

  /// Throws if a sector holds data, except what an earlier attempt has written.
  private static func checkUnused(
    _ sector: MIFAREClassicSector, _ key: MIFAREClassicKey, _ access: inout MIFAREClassicAccess,
    _ channel: inout some TagChannel
  ) throws(TagWriteError) {
    let directory = MIFAREApplicationDirectory.allNDEF
    let ours = [1: Array(directory[..<16]), 2: Array(directory[16...]), 4: emptyMessage]
    // Block 0 has the data of the manufacturer.
    for block in max(1, sector.firstBlock)..<sector.trailerBlock {
      let bytes = try access.contents(ofBlock: block, of: sector, key, &channel)
      guard bytes == ours[block] || bytes.allSatisfy({ $0 == 0 }) else { throw .holdsData }
    }
  }

  private static func inUse(_ sector: MIFAREClassicSector) -> TagWriteError {
    .refused(.unsupported, "sector \(sector.number) does not have the keys and access bits of a new tag")
  }
}

extension MIFAREClassicKey {
  /// Key A of a new tag (MF1S50YYX_V1 data sheet, section 8.6.3).
  static let delivery = MIFAREClassicKey(bytes: [UInt8](repeating: 0xFF, count: 6), slot: .a)
}

extension MIFAREApplicationDirectory {
  /// The first part of a directory whose 15 sectors belong to NDEF. The info byte names no publisher.
  static var allNDEF: [UInt8] {
    let rest: [UInt8] = [0x00] + (1...15).flatMap { _ in [0x03, 0xE1] as [UInt8] }
    return [checksum(rest)] + rest
  }
}

extension MIFAREClassicTrailer {
  /// Whether key A may write the data blocks and the whole trailer, as on a new tag.
  var isDelivered: Bool { areDataOpen && accessBitsWriter == .a }

  /// The trailer of a formatted sector. `key` is key A of its kind of sector.
  ///
  /// | Sector | Access bits | General purpose byte |
  /// |---|---|---|
  /// | 0 | 78 77 88: key B writes | C1: a directory of version 1, with several applications |
  /// | NDEF | 7F 07 88: both keys write the data, key B the trailer | 40: mapping 1.0, everybody reads and writes |
  static func formatted(_ key: MIFAREClassicKey) -> [UInt8] {
    key.bytes + (key == .directory ? [0x78, 0x77, 0x88, 0xC1] : [0x7F, 0x07, 0x88, 0x40])
      + MIFAREClassicKey.delivery.bytes
  }
}
