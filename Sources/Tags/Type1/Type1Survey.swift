/// The state of a tag that is needed to write or lock it.
struct Type1Survey {
  private static let staticLocks = [(address: 112, mask: 0xFE as UInt8), (address: 113, mask: 0x1F as UInt8)]

  var access: Type1Access
  let block: NDEFBlock

  init(_ uid: [UInt8], _ channel: inout some TagChannel) throws(TagWriteError) {
    var access = Type1Access(uid: uid)
    try access.open(&channel)
    block = try access.block(&channel)
    self.access = access
  }

  /// Whether the capability container lets anyone write.
  var isWritable: Bool { access.access & 0x0F == 0 }

  /// Whether a lock bit makes one of the first 15 blocks read-only (section 2.2.6). The factory locks blocks D and E.
  func isLocked(block number: Int) -> Bool {
    switch number {
    case 0x01...0x07: (access.memory[112] ?? 0) & 1 << UInt8(number) != 0
    case 0x08...0x0C: (access.memory[113] ?? 0) & 1 << UInt8(number - 8) != 0
    default: false
    }
  }

  /// The number of data bytes of the NDEF TLV in front of the first locked block. Below two, the length cannot be
  /// changed.
  ///
  /// Dynamic lock bits are read only if `addresses` extend beyond static memory. If any of them is set, all of dynamic
  /// memory is treated as locked: this code does not evaluate the range of each bit.
  mutating func room(
    for addresses: some Sequence<Int>, _ channel: inout some TagChannel
  ) throws(TagWriteError) -> Int {
    var isDynamicMemoryLocked = false
    if addresses.contains(where: { $0 >= Type1Access.staticSize }) {
      let locks = dynamicLocks
      try access.require(locks.map(\.address), &channel)
      isDynamicMemoryLocked = locks.contains { (access.memory[$0.address] ?? 0) & $0.mask != 0 }
    }
    return 1
      + block.addresses.dropFirst().prefix { address in
        !isLocked(block: address / Type1Access.blockSize)
          && !(isDynamicMemoryLocked && address >= Type1Access.staticSize)
      }.count
  }

  /// The dynamic lock bits according to the lock control TLVs. Addresses that no block can hold are ignored.
  private var dynamicLocks: [(address: Int, mask: UInt8)] {
    guard access.isDynamic else { return [] }
    return block.lockControls.flatMap { control in zip(control.lockBytes, control.masks).map { ($0, $1) } }
      .filter { (Type1Access.staticSize..<2048).contains($0.0) }
  }

  /// Every lock bit of the data area; nil if the tag does not say where its dynamic lock bits are.
  mutating func locks(
    _ channel: inout some TagChannel
  ) throws(TagWriteError) -> [(address: Int, mask: UInt8)]? {
    let dynamic = dynamicLocks
    if access.area.upperBound > 128, dynamic.isEmpty { return nil }
    try access.require(dynamic.map(\.address), &channel)
    return dynamic + Self.staticLocks
  }
}
