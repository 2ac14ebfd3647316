import Bus
import Testing

@testable import Presence

@Suite struct SessionReadingsTests {
  private static let path: ObjectPath = "/org/freedesktop/login1/session/_32"
  private static let other: ObjectPath = "/org/freedesktop/login1/session/_33"
  private var readings = SessionReadings()

  @Test mutating func `the first change after a quiet period is read at once`() {
    #expect(readings.handle(.changed(Self.path)) == .read(Self.path))
    #expect(readings.handle(.finished(Self.path, hasSeat: true)) == .pause(Self.path))
    #expect(readings.handle(.pauseEnded(Self.path)) == nil)
    #expect(readings.handle(.changed(Self.path)) == .read(Self.path))
  }

  @Test mutating func `a flood of changes causes one reading per pause`() {
    #expect(readings.handle(.changed(Self.path)) == .read(Self.path))
    for _ in 0..<1000 { #expect(readings.handle(.changed(Self.path)) == nil) }
    #expect(readings.handle(.finished(Self.path, hasSeat: true)) == .pause(Self.path))
    for _ in 0..<1000 { #expect(readings.handle(.changed(Self.path)) == nil) }
    // Another session does not have to wait.
    #expect(readings.handle(.changed(Self.other)) == .read(Self.other))
    #expect(readings.handle(.pauseEnded(Self.path)) == .read(Self.path))
    #expect(readings.handle(.finished(Self.path, hasSeat: true)) == .pause(Self.path))
    #expect(readings.handle(.pauseEnded(Self.path)) == nil)
  }

  @Test mutating func `a change during a reading is read after the pause`() {
    _ = readings.handle(.changed(Self.path))
    _ = readings.handle(.changed(Self.path))
    _ = readings.handle(.finished(Self.path, hasSeat: true))
    #expect(readings.handle(.pauseEnded(Self.path)) == .read(Self.path))
  }

  @Test mutating func `a session without a seat is read once, until logind reuses its path`() {
    _ = readings.handle(.added(Self.path))
    #expect(readings.handle(.finished(Self.path, hasSeat: false)) == nil)
    #expect(readings.ignores(Self.path))
    #expect(readings.handle(.changed(Self.path)) == nil)
    #expect(readings.handle(.added(Self.path)) == .read(Self.path))
    #expect(!readings.ignores(Self.path))
    _ = readings.handle(.finished(Self.path, hasSeat: false))
    #expect(readings.handle(.listed([Self.other])) == nil)
    #expect(!readings.ignores(Self.path))
  }

  @Test mutating func `the next change is read after a failed reading and after a restart of logind`() {
    _ = readings.handle(.changed(Self.path))
    #expect(readings.handle(.finished(Self.path, hasSeat: nil)) == nil)
    #expect(readings.handle(.changed(Self.path)) == .read(Self.path))
    #expect(readings.handle(.ownerChanged) == nil)
    #expect(readings.handle(.changed(Self.path)) == .read(Self.path))
    #expect(readings.handle(.removed(Self.path)) == nil)
    #expect(readings.handle(.finished(Self.path, hasSeat: true)) == nil)
  }
}
