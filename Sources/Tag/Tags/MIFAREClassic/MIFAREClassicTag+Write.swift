extension MIFAREClassicTag {
  /// Writes zero as the length first, then the other blocks, and the block of the length last. An interrupted write
  /// leaves the tag empty.
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

  /// A trailer to write.
  private struct LockStep {
    let sector: MIFAREClassicSector
    let trailer: [UInt8]
    /// The key that permits writing the trailer. The tag has accepted it.
    let key: MIFAREClassicKey
  }

  private enum LockPlan {
    /// The sector is locked already.
    case none
    case write(LockStep)
    case impossible(String)
  }

  /// Plans how to lock one sector. `keysB` are the keys to try, the most likely first. A key that fits moves to the
  /// front.
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
