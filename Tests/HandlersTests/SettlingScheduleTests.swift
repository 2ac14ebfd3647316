import Testing

@testable import Handlers

@Suite struct SettlingScheduleTests {
  private func milliseconds(_ count: Int) -> Duration { .milliseconds(count) }

  @Test func `one change is read after the quiet period`() {
    var schedule = SettlingSchedule(quiet: .milliseconds(300), longest: .seconds(3))
    #expect(schedule.changed(at: milliseconds(1000)) == .wait(.milliseconds(300)))
    #expect(schedule.elapsed(at: milliseconds(1300)) == .read)
    #expect(schedule.elapsed(at: milliseconds(1600)) == .none)
    #expect(schedule.changed(at: milliseconds(2000)) == .wait(.milliseconds(300)))
  }

  @Test func `many changes are read once, after the last`() {
    var schedule = SettlingSchedule(quiet: .milliseconds(300), longest: .seconds(3))
    #expect(schedule.changed(at: .zero) == .wait(.milliseconds(300)))
    for time in stride(from: 10, through: 250, by: 10) { #expect(schedule.changed(at: milliseconds(time)) == .none) }
    #expect(schedule.elapsed(at: milliseconds(300)) == .wait(.milliseconds(250)))
    #expect(schedule.elapsed(at: milliseconds(550)) == .read)
  }

  @Test func `constant changes are still read, and each change after a reading is read too`() {
    var schedule = SettlingSchedule(quiet: .milliseconds(300), longest: .seconds(3))
    var due: Duration?
    var readings: [Duration] = []
    for time in stride(from: 0, through: 10_000, by: 100).map(milliseconds) {
      if let moment = due, moment <= time {
        switch schedule.elapsed(at: moment) {
        case .wait(let more): due = moment + more
        case .read: (due, readings) = (nil, readings + [moment])
        case .none: due = nil
        }
      }
      if case .wait(let more) = schedule.changed(at: time) { due = time + more }
    }
    #expect(readings == [.milliseconds(3000), .milliseconds(6000), .milliseconds(9000)])
    #expect(due != nil)
  }
}
