/// NDEF on MIFARE Classic 1K, 4K and Mini (NXP AN1304 and AN1305; the application directory according to AN10787).
///
/// The directory has a public key A, and names the sectors that hold NDEF. These sectors have another public key A.
/// Their data blocks hold the TLV blocks of Type 2. An authentication opens one sector.
struct MIFAREClassicTag: NDEFTag {
  let uid: [UInt8]
  /// It determines the number of sectors. Nil if the reader does not report it.
  let sak: UInt8?

  func message(over channel: inout some TagChannel) throws(TagWriteError) -> [UInt8] {
    var access = MIFAREClassicAccess(uid: uid, sak: sak)
    try access.open(&channel)
    let block = try access.block(&channel)
    try access.require(block.messageAddresses, &channel)
    return access.memory.known(at: block.messageAddresses)
  }

  func status(over channel: inout some TagChannel) throws(TagWriteError) -> NDEFStatus {
    var access = MIFAREClassicAccess(uid: uid, sak: sak)
    try access.open(&channel)
    try access.extend(&channel)
    let block = try access.block(&channel)
    var isWritable = true
    for sector in access.sectors where isWritable {
      isWritable = try access.trailer(of: sector, .ndef, &channel).letsEverybodyWrite
    }
    return NDEFStatus(capacity: NDEFBlock.capacity(bytes: block.addresses.count), isWritable: isWritable)
  }
}

extension MIFAREClassicTag {
  /// The length is written as zero first, and with its true value last. An interrupted write leaves the tag empty.
  func write(_ message: [UInt8], over channel: inout some TagChannel) throws(TagWriteError) {
    var access = MIFAREClassicAccess(uid: uid, sak: sak)
    try access.open(&channel)
    var block = try access.block(&channel)
    guard let (first, _) = access.place(of: block.lengthAddress) else { throw .tooLong(capacity: 0) }
    guard try access.trailer(of: first, .ndef, &channel).letsEverybodyWrite else { throw .readOnly }
    if message.count > NDEFBlock.capacity(bytes: block.addresses.count), try access.extend(&channel) {
      block = try access.block(&channel)
    }
    let capacity = NDEFBlock.capacity(bytes: block.addresses.count)
    guard block.addresses.count > 1, message.count <= capacity else { throw .tooLong(capacity: capacity) }
    let bytes = block.bytes(holding: message)
    // `first` is checked above. The loop ends with the sector after it, which may still be open when writing starts.
    for sector in Self.sectors(of: bytes.map(\.address), access).reversed() where sector != first {
      guard try access.trailer(of: sector, .ndef, &channel).letsEverybodyWrite else { throw .readOnly }
    }
    try Self.put(bytes, block, &access, &channel)
  }

  private static func sectors(of addresses: [Int], _ access: MIFAREClassicAccess) -> [MIFAREClassicSector] {
    Set(addresses.compactMap { access.place(of: $0)?.sector }).sorted { $0.number < $1.number }
  }

  private static func put(
    _ bytes: [(address: Int, byte: UInt8)], _ block: NDEFBlock, _ access: inout MIFAREClassicAccess,
    _ channel: inout some TagChannel
  ) throws(TagWriteError) {
    let size = MIFAREClassicSector.blockSize
    let new = Dictionary(bytes.map { ($0.address, $0.byte) }, uniquingKeysWith: { first, _ in first })
    let lengthStart = block.lengthAddress - block.lengthAddress % size
    // The bytes in front of the length share its block, and were read with it.
    let memory = access.memory
    func contents(from start: Int) -> [UInt8] {
      (start..<start + size).map { new[$0] ?? ($0 < block.lengthAddress ? memory[$0] ?? 0 : 0) }
    }
    let starts = Set(new.keys.map { $0 - $0 % size }).sorted()
    let others = starts.filter { start in
      start != lengthStart && memory.known(at: start..<start + size) != contents(from: start)
    }
    let writes = NDEFBlock.lengthWrites(
      from: (lengthStart..<lengthStart + size).map { memory[$0] ?? 0 }, to: contents(from: lengthStart),
      length: block.lengthAddress % size, othersChange: !others.isEmpty)
    for bytes in writes.before { try access.write(bytes, at: lengthStart, &channel) }
    for start in others { try access.write(contents(from: start), at: start, &channel) }
    for bytes in writes.after { try access.write(bytes, at: lengthStart, &channel) }
  }

  /// Rewrites the trailer of each NDEF sector and of the directory sectors, with access bits that permanently forbid
  /// writing. It plans all sectors and proves every key before it writes the first trailer.
  func lock(over channel: inout some TagChannel) throws(TagWriteError) {
    var access = MIFAREClassicAccess(uid: uid, sak: sak)
    try access.open(&channel)
    try access.extend(&channel)
    _ = try access.block(&channel)
    if access.hasClosedSectors,
      try access.trailer(of: MIFAREClassicSector(number: 0), .directory, &channel).hasSecondPart
    {
      throw .cannotLock(
        "the directory in sector 16 does not open, so that the sectors behind it could still be written")
    }
    var steps: [LockStep] = []
    var keysB = MIFAREClassicKey.knownB
    for sector in access.sectors + access.directorySectors {
      switch try Self.lockStep(sector, &keysB, &access, &channel) {
      case .none: continue
      case .impossible(let reason): throw .cannotLock(reason)
      case .write(let step): steps.append(step)
      }
    }
    guard !steps.isEmpty else { throw .readOnly }
    for step in steps { try access.writeTrailer(step.trailer, of: step.sector, step.key, &channel) }
  }

  private struct LockStep {
    let sector: MIFAREClassicSector
    let trailer: [UInt8]
    /// Permits writing the trailer. The tag has accepted it.
    let key: MIFAREClassicKey
  }

  private enum LockPlan {
    /// The sector is locked already.
    case none
    case write(LockStep)
    case impossible(String)
  }

  /// `keysB` are the keys to try, the most likely first. A key that fits moves to the front.
  private static func lockStep(
    _ sector: MIFAREClassicSector, _ keysB: inout [MIFAREClassicKey], _ access: inout MIFAREClassicAccess,
    _ channel: inout some TagChannel
  ) throws(TagWriteError) -> LockPlan {
    let isNDEF = access.sectors.contains(sector)
    // This key has opened the sector, so it is the sector's key A.
    let keyA: MIFAREClassicKey = isNDEF ? .ndef : .directory
    let trailer = try access.trailer(of: sector, keyA, &channel)
    if trailer.isLocked { return .none }
    let generalPurpose = isNDEF ? trailer.generalPurpose | 0x03 : trailer.generalPurpose
    func step(_ key: MIFAREClassicKey, keyB: [UInt8]) -> LockPlan {
      let bytes = MIFAREClassicTrailer.locked(keyA: keyA.bytes, keyB: keyB, generalPurpose: generalPurpose)
      return .write(LockStep(sector: sector, trailer: bytes, key: key))
    }
    switch trailer.accessBitsWriter {
    case .a: return step(keyA, keyB: trailer.readableKeyB)
    case .b:
      for (index, key) in keysB.enumerated() where try access.authenticate(sector, key, &channel) {
        keysB.insert(keysB.remove(at: index), at: 0)
        return step(key, keyB: key.bytes)
      }
      return .impossible("key B of sector \(sector.number), which locking needs, is a secret")
    case nil: return .impossible("the access bits of sector \(sector.number) cannot be changed any more")
    }
  }
}

/// Formatting a tag with the keys and access bits of its delivery (NXP AN1305, section 8; AN10787 for the directory).
///
/// Sectors 1 to 15 get NDEF. The sectors behind them on a 4K tag stay as they are, which a directory of version 1
/// allows. Key B stays the one of the delivery, so that other programs can format the tag again.
extension MIFAREClassicTag {
  private static let first = MIFAREClassicSector(number: 0)
  private static let sectors = (1...15).map(MIFAREClassicSector.init)
  /// In the first block of the data area: an NDEF TLV without a message, and a terminator.
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
  /// MF1S50YYX_V1 data sheet, section 8.6.3.
  static let delivery = MIFAREClassicKey(bytes: [UInt8](repeating: 0xFF, count: 6), slot: .a)
}

extension MIFAREApplicationDirectory {
  /// The first part of a directory that gives all of its 15 sectors to NDEF. The info byte names no publisher.
  static var allNDEF: [UInt8] {
    let rest: [UInt8] = [0x00] + (1...15).flatMap { _ in [0x03, 0xE1] as [UInt8] }
    return [checksum(rest)] + rest
  }
}

extension MIFAREClassicTrailer {
  /// Key A may write the data blocks and the whole trailer.
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
