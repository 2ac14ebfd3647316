/// The writes that put a message on a tag with TLV blocks, in pages of a fixed size.
///
/// The length becomes zero first. The other pages follow, and the page of the length comes last. An interrupted write
/// leaves the tag empty. A page that already has its contents is not written.
struct NDEFWritePlan {
  private let block: NDEFBlock
  private let pageSize: Int
  /// The new bytes by address.
  private let new: [Int: UInt8]

  /// `bytes` are the new bytes from the length on. With `isNew`, the tag has no NDEF TLV yet, and its type is written
  /// as well.
  init(_ bytes: some Sequence<(address: Int, byte: UInt8)>, over block: NDEFBlock, isNew: Bool, pageSize: Int) {
    self.block = block
    self.pageSize = pageSize
    var new = Dictionary(bytes.map { ($0.address, $0.byte) }, uniquingKeysWith: { first, _ in first })
    if isNew, let type = block.addresses.first { new[type] = 0x03 }
    self.new = new
  }

  /// The bytes that share a page with new ones and stay unchanged. They must be known before the writes. Unused bytes
  /// of the TLV's space are not among them. They become zero.
  var kept: [Int] {
    let free = Set(block.addresses)
    return pages.flatMap(addresses(of:)).filter { new[$0] == nil && !free.contains($0) }
  }

  /// The writes in order. `memory` knows the bytes at `kept` and the page of the length.
  func writes(_ memory: TagMemory) -> [(page: Int, bytes: [UInt8])] {
    func contents(of page: Int) -> [UInt8] { addresses(of: page).map { new[$0] ?? memory[$0] ?? 0 } }
    let lengthPage = block.lengthAddress / pageSize
    let others = pages.filter { page in
      page != lengthPage && memory.known(at: addresses(of: page)) != contents(of: page)
    }
    let length = NDEFBlock.lengthWrites(
      from: addresses(of: lengthPage).map { memory[$0] ?? 0 }, to: contents(of: lengthPage),
      length: block.lengthAddress % pageSize, othersChange: !others.isEmpty)
    var writes = length.before.map { (page: lengthPage, bytes: $0) }
    writes += others.map { (page: $0, bytes: contents(of: $0)) }
    writes += length.after.map { (page: lengthPage, bytes: $0) }
    return writes
  }

  /// The pages with new bytes, ascending.
  private var pages: [Int] { Set(new.keys.map { $0 / pageSize }).sorted() }

  private func addresses(of page: Int) -> Range<Int> { page * pageSize..<(page + 1) * pageSize }
}
