import ReaderSimulator
import Testing

@testable import LibNFCReader

/// Tags that are torn away at each exchange of an operation.
@Suite struct TearTests {
  @Test(
    arguments: [
      (.type1(.topaz96), 30, 1...1), (.type1(.topaz512), 60, 1...1), (.type1(.topaz512), 130, 8...8),
      (.type3(.liteS), 150, 5...5), (.type3(.standardWithSeveralSystems), 150, 3...3),
    ]
      + [SimulatedType2Model.ultralight, .ntag203, .ntag215, .ntagI2C2k].flatMap { model in
        [0, 40].map { (.type2(model), $0, 1...20) }
      }
      + [0, 4, 20, 40].map { (.sectors(before: $0), 60, 5...30) }
      + [Modulation.typeA, .typeB].flatMap { modulation in
        [2, 3].map { (.type4(modulation, version: $0, read: 50), 150, 8...20) }
      }
      + [0, 20, 100].map { (.classic(.classic1K), $0, 5...20) } as [(TagSample, Int, ClosedRange<Int>)])
  func `reading yields the message or none`(tag: TagSample, size: Int, exchanges: ClosedRange<Int>) throws {
    let message = ndefMessage(ofSize: size)
    let report = try tag.walk(message).reading(message)
    #expect(report.findings == [])
    #expect(exchanges.contains(report.exchanges), "\(report.exchanges)")
  }

  static let type1: [(TagSample, Int, Int)] = [
    (.type1(.topaz96), 0, 20), (.type1(.topaz96), 20, 0), (.type1(.topaz96), 40, 12), (.type1(.topaz96), 12, 30),
    (.type1(.topaz512), 20, 0), (.type1(.topaz512), 20, 120), (.type1(.topaz512), 260, 20),
  ]
  static let type2: [(TagSample, Int, Int)] = [
    (.type2(.ultralight), 46, 46), (.type2(.ntag213, hasLockControl: true), 20, 100),
    (.type2(.ntag213, hasLockControl: true), 100, 20), (.type2(.ntag215, hasLockControl: true), 0, 37),
    (.type2(.ntag215, hasLockControl: true), 300, 0), (.type2(.ntag215, hasLockControl: true), 3, 254),
    (.type2(.ultralightC, hasLockControl: true), 60, 70), (.type2(.ntag203, hasLockControl: true), 60, 61),
    (.type2(.ntag216, hasLockControl: true), 255, 260),
  ]
  static let type4: [(TagSample, Int, Int)] = [Modulation.typeA, .typeB].flatMap { modulation in
    [(0, 150), (150, 0), (150, 220)].map { (.type4(modulation, file: 300), $0.0, $0.1) }
  }
  static let classic: [(TagSample, Int, Int)] =
    [(0, 60), (60, 0), (60, 100), (100, 12), (10, 13), (300, 40), (40, 300)].map {
      (.classic(.classic1K), $0.0, $0.1)
    } + (12...18).map { (.classic(.mini, nulls: $0), 40, 30) }
    + [12, 14, 15].map { (.classic(.classic1K, nulls: $0), 256, 270) }

  @Test(arguments: type1 + type2 + [0, 4, 20, 40].map { (.sectors(before: $0), 60, 70) } + type4 + classic)
  func `writing leaves the old message, the new one or none`(tag: TagSample, sizes old: Int, new: Int) throws {
    let before = ndefMessage(ofSize: old)
    let report = try tag.walk(before).writing(ndefMessage(ofSize: new, filledWith: 0x42), over: before)
    #expect(report.findings == [])
    #expect(report.exchanges > 1)
  }

  @Test(
    arguments: [
      (.liteS, 0, 0, 4), (.liteS, 0, 208, 17), (.liteS, 150, 0, 4), (.liteS, 150, 208, 17),
      (.standard, 150, 400, 7), (.standard, 400, 0, 3),
      (.standardWithSeveralSystems, 150, 400, 8), (.standardWithSeveralSystems, 400, 0, 4),
    ] as [(Type3Options.Model, Int, Int, Int)])
  func `writing a FeliCa card takes the fewest exchanges and leaves the old message, the new one or none`(
    model: Type3Options.Model, old: Int, new: Int, exchanges: Int
  ) throws {
    let before = ndefMessage(ofSize: old)
    let report = try TagSample.type3(model).walk(before).writing(
      ndefMessage(ofSize: new, filledWith: 0x42), over: before)
    #expect(report.findings == [])
    #expect(report.exchanges == exchanges)
  }

  /// Beyond 32 KiB, mapping 3.0 of Type 4 encodes offsets as data objects. On the 4K, the message passes the second part
  /// of the directory and reaches the large sectors.
  @Test(
    arguments: [
      (.type4(.typeA, version: 3, read: 256, write: 255, file: 34_000), 32_800, 33_200, 97),
      (.classic(.classic4K), 1_500, 1_600, 41),
    ] as [(TagSample, Int, Int, Int)])
  func `a long message is the old one, the new one or none`(
    tag: TagSample, sizes old: Int, new: Int, stride: Int
  ) throws {
    let before = ndefMessage(ofSize: old)
    let walk = tag.walk(before, stride: stride)
    let reports = [
      try walk.reading(before), try walk.writing(ndefMessage(ofSize: new, filledWith: 0x42), over: before),
    ]
    #expect(reports.flatMap(\.findings) == [])
    #expect(reports.allSatisfy { $0.exchanges > 100 })
  }

  /// A FeliCa Lite is also configured to reject writes. Of the exchanges with a Type 4 card, five read the message.
  @Test(
    arguments: [
      (.type1(.topaz96), 5...5), (.type1(.topaz512), 7...7), (.type2(.ultralight), 1...30),
      (.type2(.ultralightC), 1...30), (.type2(.ntag203), 1...30), (.type2(.ntag203, hasLockControl: true), 1...30),
      (.type2(.ntag213), 1...30), (.type2(.ntag213, hasLockControl: true), 1...30), (.type2(.ntag215), 1...30),
      (.type2(.ntagI2C2k), 1...30), (.type3(.liteS, .felica424), 7...7), (.type3(.standard, .felica424), 4...4),
      (.type3(.standardWithSeveralSystems, .felica424), 6...6), (.type3(.phone, .felica424), 4...4),
      (.type4(.typeA), 10...10), (.type4(.typeB), 10...10), (.classic(.mini, sectors: [1, 2]), 16...60),
    ] + [0, 4, 20, 40].map { (.sectors(before: $0), 1...40) } as [(TagSample, ClosedRange<Int>)])
  func `locking keeps the message and can be repeated`(tag: TagSample, exchanges: ClosedRange<Int>) throws {
    let message = ndefMessage(ofSize: 37)
    let report = try tag.walk(message).locking(message)
    #expect(report.findings == [])
    #expect(exchanges.contains(report.exchanges), "\(report.exchanges)")
  }
}
