/// The writes that put a message on a Type 1 tag, in order: the length becomes zero, then the bytes behind it are
/// written, and the length last. Bytes that are already right are not written.
struct Type1WritePlan {
  enum Step: Equatable {
    case byte(UInt8, address: Int, erasing: Bool)
    /// Eight bytes.
    case block([UInt8], number: Int, erasing: Bool)
  }

  private(set) var steps: [Step] = []

  /// `bytes` are the new bytes by address, the length first. `memory` knows all of static memory, and the addresses of
  /// dynamic memory that `kept` returns. `isDynamic` says whether the tag supports the commands for blocks.
  init(
    _ bytes: some Collection<(address: Int, byte: UInt8)>, over block: NDEFBlock, _ memory: TagMemory, isDynamic: Bool
  ) {
    let new = Dictionary(bytes.map { ($0.address, $0.byte) }, uniquingKeysWith: { first, _ in first })
    let lengthAddress = block.lengthAddress
    let lengthBlock = lengthAddress / Type1Access.blockSize
    // Dynamic memory has no command that writes a single byte.
    let isLengthAlone = lengthAddress < Type1Access.staticSize
    func contents(of number: Int) -> [UInt8] { Type1Access.addresses(of: number).map { new[$0] ?? memory[$0] ?? 0 } }

    var others: [Step] = []
    for number in Set(new.keys.map { $0 / Type1Access.blockSize }).sorted() {
      let changes = Type1Access.addresses(of: number).filter { address in
        guard let byte = new[address] else { return false }
        return memory[address] != byte && address != lengthAddress
      }
      if changes.isEmpty || number == lengthBlock && !isLengthAlone { continue }
      // A write of eight bytes bypasses the chip's firmware, and takes as many chip commands as four writes of single
      // bytes. Static blocks up to the length are written byte by byte, so that the bytes needed to understand the tag
      // are never erased.
      let isBehindLength = number * Type1Access.blockSize > lengthAddress
      if isDynamic, number >= Type1Access.staticBlocks || isBehindLength && changes.count >= 4 {
        others.append(.block(contents(of: number), number: number, erasing: true))
      } else {
        others += changes.map { .byte(new[$0] ?? 0, address: $0, erasing: true) }
      }
    }

    guard isLengthAlone else {
      let writes = NDEFBlock.lengthWrites(
        from: Type1Access.addresses(of: lengthBlock).map { memory[$0] ?? 0 }, to: contents(of: lengthBlock),
        length: lengthAddress % Type1Access.blockSize, othersChange: !others.isEmpty)
      steps = writes.before.map { .block($0, number: lengthBlock, erasing: true) } + others
      steps += writes.after.map { .block($0, number: lengthBlock, erasing: true) }
      // The last write sets the length, which is zero before. It must not erase, because the message shares its block.
      // A tag that is removed during the erase would have a length and half a message.
      if case .block(let bytes, let number, _)? = steps.last, bytes[lengthAddress % Type1Access.blockSize] != 0,
        !writes.after.isEmpty
      {
        steps[steps.count - 1] = .block(bytes, number: number, erasing: false)
      }
      return
    }
    let isToBeEmptied = memory[lengthAddress] ?? 0 != 0 && !others.isEmpty
    if isToBeEmptied { steps.append(.byte(0, address: lengthAddress, erasing: true)) }
    steps += others
    let old = isToBeEmptied ? 0 : memory[lengthAddress] ?? 0
    if let length = new[lengthAddress], length != old {
      steps.append(.byte(length, address: lengthAddress, erasing: old != 0))
    }
  }

  /// The bytes of dynamic memory that must be known before the write. They share a block with the new bytes, but do not
  /// belong to the message, and stay unchanged. (Unused bytes of the message's space become zero.)
  static func kept(_ addresses: some Sequence<Int>, over block: NDEFBlock) -> [Int] {
    let new = Set(addresses)
    let free = Set(block.addresses)
    return Set(new.map { $0 / Type1Access.blockSize }).sorted().filter { $0 >= Type1Access.staticBlocks }
      .flatMap(Type1Access.addresses(of:)).filter { !new.contains($0) && !free.contains($0) }
  }
}
