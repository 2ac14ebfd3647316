import Rig
import Testing

@testable import Tags

@Suite struct Type2ReadPlanTests {
  /// The commands that are sent in turn to a tag that supports all of them.
  private func steps(_ pages: some Sequence<Int>, lastPage: Int, _ fastRead: Type2ReadPlan.FastRead) -> [String] {
    var missing = Array(pages)
    var fastRead = fastRead
    var steps: [String] = []
    while let step = Type2ReadPlan.next(missing: missing, lastPage: lastPage, fastRead: fastRead), steps.count < 200 {
      switch step {
      case .read(let page):
        steps.append("\(page)")
        missing.removeAll { (page...page + 3).contains($0) }
      case .fastRead(let pages):
        fastRead = .certain
        steps.append("\(pages)")
        missing.removeAll { pages.contains($0) }
      }
    }
    return steps
  }

  @Test func `FAST_READ is used if it saves an exchange`() {
    #expect(steps([], lastPage: 127, .certain) == [])
    #expect(steps(7...10, lastPage: 127, .certain) == ["7"])
    #expect(steps(7...11, lastPage: 127, .certain) == ["7...11"])
    #expect(steps(7...127, lastPage: 127, .certain) == ["7...66", "67...126", "124"])
  }

  /// The plan with fewer exchanges is chosen. The attempt to use FAST_READ costs one exchange.
  @Test func `FAST_READ is tried if it saves more than the attempt costs`() {
    #expect(steps(7...10, lastPage: 39, .unknown) == ["7"])
    #expect(steps(7...14, lastPage: 39, .unknown) == ["7", "11"])
    #expect(steps(7...15, lastPage: 39, .unknown) == ["7...15"])
    #expect(steps(7...127, lastPage: 127, .absent).count == 31)
  }

  /// Compares with the minimum, where each command covers as many pages as possible.
  @Test func `no other plan takes fewer exchanges`() {
    var random = SeededGenerator(seed: 5)
    for _ in 0..<500 {
      let count = Int.random(in: 1...12, using: &random)
      let pages = Set((0..<count).map { _ in Int.random(in: 4...230, using: &random) }).sorted()
      var (reads, fast) = (0, 0)
      var (end, fastEnd) = (-1, -1)
      for page in pages {
        if page > end { (reads, end) = (reads + 1, page + 3) }
        if page > fastEnd { (fast, fastEnd) = (fast + 1, page + Type2ReadPlan.mostPages - 1) }
      }
      #expect(steps(pages, lastPage: 233, .certain).count == min(reads, fast), "\(pages)")
      #expect(steps(pages, lastPage: 233, .unknown).count == (fast + 1 < reads ? fast : reads), "\(pages)")
    }
  }

  @Test func `a READ ends with the data area`() {
    #expect(steps([14, 15], lastPage: 15, .absent) == ["12"])
    #expect(steps([2], lastPage: 3, .absent) == ["2"])
    // Lock bytes after the data area.
    #expect(steps([40], lastPage: 39, .absent) == ["37"])
  }

  @Test func `no command crosses a sector boundary`() {
    #expect(steps(250...260, lastPage: 471, .certain) == ["250...255", "256...260"])
    #expect(steps(254...257, lastPage: 471, .certain) == ["252", "256"])
  }

  @Test func `a FAST_READ includes pages in small gaps`() {
    #expect(steps([7, 8, 9, 10, 11, 20, 21, 22, 23, 24], lastPage: 127, .certain) == ["7...24"])
    #expect(steps([7, 8, 9, 10, 11, 80, 81, 82, 83, 84], lastPage: 127, .certain) == ["7...11", "80...84"])
    #expect(steps([7, 80], lastPage: 127, .certain) == ["7", "80"])
  }

  @Test(
    arguments: [
      (0x04, 0x05, [], .unknown), (0x04, 0x06, [], .unknown), (0x04, 0x12, [], .unknown),
      (0x04, 0x12, [0x01, 0x03, 0xA0, 0x10, 0x44], .unknown),
      (0x04, 0x12, [0x01, 0x03, 0xA0, 0x0C, 0x34], .certain), (0x04, 0x3E, [], .certain), (0x04, 0x6D, [], .certain),
      (0x04, 0xEA, [], .certain), (0x04, 0x10, [], .certain), (0x04, 0x20, [], .unknown), (0x05, 0x10, [], .unknown),
      (nil, 0x3E, [], .unknown),
    ] as [(UInt8?, UInt8, [UInt8], Type2ReadPlan.FastRead)])
  func `support for FAST_READ is derived from manufacturer and container`(
    manufacturer: UInt8?, size: UInt8, data: [UInt8], expected: Type2ReadPlan.FastRead
  ) {
    var memory = TagMemory(size: 64)
    memory.learn([0xE1, 0x10, size, 0x00] + data, at: 12)
    #expect(Type2ReadPlan.fastRead(manufacturer: manufacturer, memory) == expected)
  }
}

@Suite struct Type2LocksTests {
  @Test(
    arguments: [
      ([0, 4, 4, 2, 1, 0, 0x0F, 3], [160: 0xFF, 161: 0x0F]), ([0, 4, 4, 2, 1, 0, 0x11, 3], [520: 0xFF]),
      ([0, 4, 4, 2, 1, 0, 0x13, 3], [904: 0xFF, 905: 0x3F]), ([0, 4, 4, 5, 2, 1, 0x13, 3], [904: 0xFF, 905: 0x3F]),
      ([0, 4, 4, 5, 2, 1, 0x15, 3], [1920: 0xFF, 1921: 0x7F]), ([0, 4, 4, 5, 2, 2, 0x15, 3], [904: 0xFF, 905: 0x3F]),
      ([0, 4, 3, 1, 1, 0, 0x0E, 3], [144: 0xFF, 145: 0x03]), ([0, 4, 4, 1, 1, 0, 0x0B, 3], [:]),
      ([0, 4, 3, 1, 2, 0, 0x0B, 3], [:]),
      ([0, 5, 4, 2, 1, 0, 0x0F, 3], nil), ([0, 4, 4, 2], nil), ([0, 4, 4, 2, 1, 0, 0x77, 3], nil),
    ] as [([UInt8], [Int: UInt8]?)])
  func `the version gives the addresses of the lock bytes`(version: [UInt8], expected: [Int: UInt8]?) {
    let locks = Type2Model.ofVersion(version)?.locks
    #expect(locks.map { Dictionary(uniqueKeysWithValues: $0.bytes.map { ($0.address, $0.mask) }) } == expected)
  }

  @Test func `a set lock bit marks its pages as locked`() {
    var memory = TagMemory(size: 64)
    memory.learn([0, 0, 0x10, 0x80], at: 8)
    #expect((3...16).filter { Type2Locks.isLocked($0, memory) } == [4, 15])
    #expect(Type2Locks.static.isAnySet(in: memory) && !Type2Locks.static.areAllSet(in: memory))
    #expect(Type2Locks.static.locked(2, memory) == [0, 0, 0xF8, 0xFF])
  }
}
