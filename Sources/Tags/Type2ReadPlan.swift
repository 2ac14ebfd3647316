/// What to send next to have pages of a Type 2 tag in the fewest exchanges.
///
/// READ gives four pages. FAST_READ gives as many as are asked for, but not every tag knows it. GET_VERSION would say whether it
/// does, for an exchange; to try FAST_READ says so too, at the same price, and brings the pages.
enum Type2ReadPlan {
  enum Step: Equatable {
    case read(page: Int)
    case fastRead(ClosedRange<Int>)
  }

  /// Whether the tag knows FAST_READ.
  enum FastRead {
    case certain, unknown, absent
  }

  /// What one answer holds: 240 bytes, the CRC and the status fit into a normal frame of a PN53x, and into an APDU of
  /// the readers that wrap it.
  static let mostPages = 60
  /// What it costs to find out that the tag does not know FAST_READ: the exchange that it refuses.
  static let refusalCost = 1

  /// - Parameters:
  ///   - missing: the pages that are needed, ascending.
  ///   - lastPage: the last page of the data area; READ does not look behind it where it need not.
  ///   - fastRead: whether the tag knows FAST_READ.
  /// - Returns: what to send; nil where nothing is missing.
  static func next(missing: [Int], lastPage: Int, fastRead: FastRead) -> Step? {
    guard let first = missing.first else { return nil }
    let saved = reads(missing, lastPage) - fastReads(missing)
    let isWorthwhile =
      switch fastRead {
      case .certain: saved > 0
      case .unknown: saved > refusalCost
      case .absent: false
      }
    return isWorthwhile ? .fastRead(span(missing[...])) : .read(page: start(of: first, lastPage))
  }

  /// What can be told without asking, of NXP's tags (UID 04): of those with 144 bytes the NTAG213 knows it, which leaves the factory
  /// with this lock control TLV, and NTAG203 and Ultralight C do not.
  ///
  /// - Parameters:
  ///   - manufacturer: the first byte of the UID.
  ///   - memory: with the capability container and the beginning of the data area, where known.
  /// - Returns: `unknown` of all others.
  static func fastRead(manufacturer: UInt8?, _ memory: TagMemory) -> FastRead {
    guard manufacturer == 0x04, let size = memory[14] else { return .unknown }
    if size == 0x12, memory.known(at: 16..<21) == [0x01, 0x03, 0xA0, 0x0C, 0x34] { return .certain }
    return Type2Model.knowFastRead(size: size) ? .certain : .unknown
  }

  /// Four pages from `page` on, or the last four of the data area or the sector that it is in.
  private static func start(of page: Int, _ lastPage: Int) -> Int {
    let last = min(max(lastPage, page), page | 0xFF)
    return max(min(page, last - 3), page & ~0xFF, min(page, 3))
  }

  private static func reads(_ missing: [Int], _ lastPage: Int) -> Int {
    var count = 0
    var end = 0
    for page in missing where page >= end {
      end = start(of: page, lastPage) + 4
      count += 1
    }
    return count
  }

  private static func fastReads(_ missing: [Int]) -> Int {
    var count = 0
    var rest = missing[...]
    while !rest.isEmpty {
      let last = span(rest).upperBound
      rest = rest.drop { $0 <= last }
      count += 1
    }
    return count
  }

  /// From the first page as far as one answer goes, within one sector. What lies between two pages that are needed comes
  /// along: another exchange would take longer.
  private static func span(_ missing: ArraySlice<Int>) -> ClosedRange<Int> {
    let first = missing.first ?? 0
    let end = min(first + mostPages, (first | 0xFF) + 1)
    return first...(missing.last { $0 < end } ?? first)
  }
}
