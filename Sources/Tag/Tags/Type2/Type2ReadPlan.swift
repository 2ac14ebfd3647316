/// Chooses the next command that reads pages of a Type 2 tag in the fewest exchanges.
///
/// READ returns four pages. FAST_READ returns any number of pages, but not every tag supports it. GET_VERSION would
/// reveal support at the cost of one exchange. Trying FAST_READ costs the same, and returns the pages if it succeeds.
enum Type2ReadPlan {
  enum Step: Equatable {
    case read(page: Int)
    case fastRead(ClosedRange<Int>)
  }

  /// Whether the tag supports FAST_READ.
  enum FastRead {
    case certain, unknown, absent
  }

  /// The maximum number of pages in one answer. Their 240 bytes, the CRC and the status fit into a normal frame of a
  /// PN53x, and into an APDU of a reader that wraps its frames.
  static let mostPages = 60
  /// The cost of trying FAST_READ on a tag that does not support it: the refused exchange.
  static let refusalCost = 1

  /// The next command; nil if no page is missing. `missing` is ascending. READ does not go beyond `lastPage`, the last
  /// page of the data area, unless a missing page lies there.
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

  /// Support for FAST_READ as far as it is known without an exchange, for NXP tags (UID 04). Three models have 144
  /// bytes. The NTAG213 supports FAST_READ, and leaves the factory with this lock control TLV. NTAG203 and Ultralight C
  /// do not support it. Returns `unknown` for all other tags. The memory has the capability container and, if known,
  /// the start of the data area. `manufacturer` is the first byte of the UID.
  static func fastRead(manufacturer: UInt8?, _ memory: TagMemory) -> FastRead {
    guard manufacturer == 0x04, let size = memory[14] else { return .unknown }
    if size == 0x12, memory.known(at: 16..<21) == [0x01, 0x03, 0xA0, 0x0C, 0x34] { return .certain }
    return Type2Model.knowFastRead(size: size) ? .certain : .unknown
  }

  /// The first of four pages that include `page`: it starts there, or earlier at the end of the data area or sector.
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

  /// The pages from the first missing one that fit into one answer, within one sector. Pages in between that are not
  /// missing are included, because a second exchange would take longer.
  private static func span(_ missing: ArraySlice<Int>) -> ClosedRange<Int> {
    let first = missing.first ?? 0
    let end = min(first + mostPages, (first | 0xFF) + 1)
    return first...(missing.last { $0 < end } ?? first)
  }
}
