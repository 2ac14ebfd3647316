import Rig
import Testing

@testable import ReaderSimulator

/// The durations of the modelled PN532, from the table in the documentation of `TimingModel.realistic`.
@Suite struct TimingModelTests {
  private static let fieldOn: [UInt8] = [0x32, 0x01, 0x01]

  private func driver(tries: UInt8 = 1, fieldOnSince: Duration? = .milliseconds(100)) -> ChipDriver {
    let driver = ChipDriver(.realistic)
    _ = driver.send([0x32, 0x05, 0x00, 0x00, tries - 1])
    if let fieldOnSince {
      _ = driver.send(Self.fieldOn)
      driver.now += fieldOnSince
    }
    return driver
  }

  private func tenths(_ actions: [PN532Chip.Action]) -> Int {
    Int((ChipDriver.duration(actions) / .microseconds(100)).rounded())
  }

  @Test(
    arguments: [
      ([0x00], 75, 52), ([0x03, 0x00], 88, 64), ([0x01, 0x00, 0xFF, 0xFF, 0x01, 0x00], 120, 92),
      ([0x02, 0x00, 0xFF, 0xFF, 0x01, 0x00], 117, 89), ([0x04], 75, 52),
    ] as [([UInt8], Int, Int)])
  func `a select without a tag takes its modelled time`(target: [UInt8], once: Int, more: Int) {
    let command = [0x4A, 0x01] + target
    #expect(tenths(driver().send(command)) == once)
    #expect(abs(tenths(driver(tries: 4).send(command)) - (once + 3 * more)) <= 2)
    #expect(tenths(driver(fieldOnSince: nil).send(command)) == once + 50)
  }

  @Test(arguments: [(0, 278), (1, 277), (277, 1), (278, 278), (700, 134)])
  func `an ACR122U looks for cards in its own interval`(now: Int, left: Int) throws {
    let delay = try #require(CardReaderModel.acr122U.untilNextLook(at: .milliseconds(now)))
    #expect(abs(delay / .milliseconds(1) - Double(left)) < 0.001)
    #expect(CardReaderModel.acr1252U.untilNextLook(at: .milliseconds(now)) == nil)
  }

  @Test func `a configuration of the field takes its modelled time`() {
    #expect(tenths(driver(fieldOnSince: nil).send([0x32, 0x01, 0x00])) == 23)
  }

  @Test(arguments: [([0x01, 0x02, 0x03, 0x04], 189), (uid7, 210)] as [([UInt8], Int)])
  func `activating and reading a tag take their modelled time`(uid: [UInt8], expected: Int) throws {
    let driver = driver()
    _ = driver.place(try .type2(.ntag215, message: [], uid: .fixed(uid)))
    driver.now += .milliseconds(20)
    #expect(tenths(driver.send(select)) == expected)
    #expect(tenths(driver.send([0x40, 0x01, 0x30, 0x04])) == 58)
  }

  @Test func `the own time of chip and host is added to each command`() {
    let (usual, slow) = (driver(), ChipDriver(.realistic.taking(.milliseconds(3))))
    let durations = [usual, slow].map { tenths($0.send([0x02])) }
    #expect(durations[1] == durations[0] + 30)
  }

  @Test func `the time of a radio frame depends on its modulation and its length`() {
    let timing = TimingModel.realistic
    func microseconds(_ frame: RadioFrame, _ sender: TimingModel.Sender) -> Int {
      Int((timing.radioTime(frame, from: sender) / .microseconds(1)).rounded())
    }
    #expect(microseconds(.short(0x26), .reader) == 85)
    #expect(microseconds(.standard([0x30, 0x04]), .reader) == 359)
    #expect(microseconds(RadioFrame(modulation: .typeB, bytes: [0x05, 0, 0, 0x71, 0xFF]), .reader) == 680)
    #expect(microseconds(RadioFrame(modulation: .felica212, bytes: [UInt8](repeating: 0, count: 20)), .tag) == 1057)
    #expect(microseconds(RadioFrame(modulation: .felica424, bytes: [UInt8](repeating: 0, count: 20)), .tag) == 529)
    #expect(microseconds(RadioFrame(modulation: .jewel, bytes: [UInt8](repeating: 0, count: 9)), .reader) == 840)
  }

  @Test func `more time slots take longer`() {
    let timing = TimingModel.realistic
    let one = RadioFrame(modulation: .felica212, bytes: [6, 0, 0xFF, 0xFF, 1, 0, 0, 0])
    let four = RadioFrame(modulation: .felica212, bytes: [6, 0, 0xFF, 0xFF, 1, 3, 0, 0])
    #expect(Int(((timing.wait(for: four) - timing.wait(for: one)) / .microseconds(1)).rounded()) == 3625)
  }

  @Test func `a tag that was just placed does not answer yet`() throws {
    let driver = driver()
    _ = driver.place(try type2())
    #expect(driver.answer(select) == [0])
    driver.now += .milliseconds(5)
    #expect(driver.answer(select)?.first == 1)
  }

  @Test func `an autopoll polls its types in turn`() throws {
    let driver = driver()
    // Two rounds of Topaz and MIFARE, 150 ms each.
    #expect(driver.send([0x60, 0x02, 0x01, 0x04, 0x10]).last == .wake(at: driver.now + .milliseconds(150)))
    driver.now += .milliseconds(150)
    #expect(driver.chip.wake(at: driver.now) == [.wake(at: driver.now + .milliseconds(150))])
    #expect(driver.place(try type2()) == [])
    driver.now += .milliseconds(150)
    #expect(driver.chip.wake(at: driver.now) == [.wake(at: driver.now + .milliseconds(150))])
    driver.now += .milliseconds(150)
    let found = driver.chip.wake(at: driver.now)
    guard case .information(let answer)? = ChipDriver.frames(found).first else { throw RigError("no answer: \(found)") }
    #expect(answer.prefix(4) == [0xD5, 0x61, 0x01, 0x10])
  }

  @Test func `an autopoll ends after its rounds`() {
    let driver = driver()
    #expect(driver.send([0x60, 0x01, 0x01, 0x04]).last == .wake(at: driver.now + .milliseconds(150)))
    driver.now += .milliseconds(150)
    #expect(ChipDriver.frames(driver.chip.wake(at: driver.now)) == [.information([0xD5, 0x61, 0x00])])
  }

  @Test func `the host can raise the speed of the line`() {
    let driver = driver()
    let slow = ChipDriver.duration(driver.send([0x02]))
    _ = driver.send([0x10, 0x07])
    _ = driver.chip.receive(.acknowledge, at: driver.now)
    #expect(tenths(driver.send([0x02])) == Int((slow / .microseconds(800)).rounded()))
    driver.chip.reset(at: driver.now)
    #expect(ChipDriver.duration(driver.send([0x02])) == slow)
  }

  @Test func `an unacknowledged change of the speed has no effect`() {
    let driver = driver()
    let slow = ChipDriver.duration(driver.send([0x02]))
    _ = driver.send([0x10, 0x07])
    #expect(ChipDriver.duration(driver.send([0x02])) == slow)
    _ = driver.chip.receive(.acknowledge, at: driver.now)
    #expect(driver.chip.rate == 115_200)
  }
}
