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
  /// If any dynamic lock bit is set, all of dynamic memory is treated as locked: this code does not evaluate the range
  /// of each bit.
  mutating func room(
    for addresses: some Sequence<Int>, _ channel: inout some TagChannel
  ) throws(TagWriteError) -> Int {
    var isDynamicMemoryLocked = false
    if let locks = access.dynamicLocks, addresses.contains(where: { $0 >= Type1Access.staticSize }) {
      try access.require(locks, &channel)
      isDynamicMemoryLocked = access.memory.known(at: locks).contains { $0 != 0 }
    }
    return 1
      + block.addresses.dropFirst().prefix { address in
        !isLocked(block: address / Type1Access.blockSize)
          && !(isDynamicMemoryLocked && address >= Type1Access.staticSize)
      }.count
  }

  /// Every lock bit of the model; nil if the model is not known.
  mutating func locks(
    _ channel: inout some TagChannel
  ) throws(TagWriteError) -> [(address: Int, mask: UInt8)]? {
    guard let dynamic = access.dynamicLocks else { return nil }
    try access.require(dynamic, &channel)
    return dynamic.map { ($0, 0xFF) } + Self.staticLocks
  }
}
