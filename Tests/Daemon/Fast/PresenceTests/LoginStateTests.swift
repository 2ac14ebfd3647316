import Bus
import Testing

@testable import Presence

@Suite struct LoginStateTests {
  private static let path: ObjectPath = "/org/freedesktop/login1/session/_31"

  private func properties(
    _ id: String = "1", uid: UInt32 = 1000, seat: String = "seat0", type: String = "wayland",
    sessionClass: String = "user", remote: Bool = false, active: Bool = true, locked: Bool? = false,
    state: String = "active"
  ) -> [String: Value] {
    var properties: [String: Value] = [
      "Id": .string(id), "User": .structure([.uint32(uid), .objectPath("/u")]),
      "Seat": .structure([.string(seat), .objectPath("/s")]), "Type": .string(type), "Class": .string(sessionClass),
      "Remote": .boolean(remote), "Active": .boolean(active), "State": .string(state),
    ]
    if let locked { properties["LockedHint"] = .boolean(locked) }
    return properties
  }

  private func state(_ events: LoginState.Event...) -> LoginState {
    var state = LoginState()
    for event in [.synchronized] + events { state.handle(event) }
    return state
  }

  @Test func `the active session of a seat is the one in the foreground`() {
    let state = state(
      .read("/a", properties("a", active: false)), .read("/b", properties("b", uid: 1001)),
      .read("/c", properties("c", seat: "", sessionClass: "background")),
      .read("/d", properties("d", seat: "seat1", sessionClass: "greeter")))
    #expect(state.activeSession(on: "seat0")?.id == "b")
    #expect(state.activeSession(on: "seat1")?.id == "d")
    #expect(state.activeSession(on: "seat2") == nil)
  }

  @Test func `a closing session is not active even if it says so`() {
    let state = state(.read("/a", properties(state: "closing")))
    #expect(state.activeSession(on: "seat0") == nil)
    #expect(state.sessions.first?.conditions.isActive == .no)
    #expect(state.eligibleSessions(of: 1000).isEmpty)
  }

  @Test func `no session is active while logind is not running`() {
    var state = state(.read("/a", properties()))
    state.handle(.logindGone)
    #expect(state.activeSession(on: "seat0") == nil)
    #expect(state.eligibleSessions(of: 1000).isEmpty)
    #expect(state.session("1") != nil)
    state.handle(.synchronized)
    #expect(state.activeSession(on: "seat0")?.id == "1")
  }

  @Test func `only a local user session on a seat may have an agent`() {
    let state = state(
      .read("/a", properties("a", type: "tty")), .read("/b", properties("b", active: false)),
      .read("/c", properties("c")), .read("/d", properties("d", remote: true)),
      .read("/e", properties("e", seat: "")), .read("/f", properties("f", sessionClass: "manager")),
      .read("/g", properties("g", uid: 1001)))
    #expect(state.eligibleSessions(of: 1000).map(\.id) == ["c", "b", "a"])
    #expect(state.eligibleSessions(of: 1001).map(\.isActive) == [true])
    #expect(state.eligibleSessions(of: 0).isEmpty)
  }

  @Test func `a lock survives a restart of logind`() {
    var state = state(.read(Self.path, properties()), .changed(Self.path, ["LockedHint": .boolean(true)]))
    #expect(state.sessions.first?.conditions.isLocked == .yes)
    for event in [LoginState.Event.logindGone, .listed([Self.path]), .read(Self.path, properties()), .synchronized] {
      state.handle(event)
    }
    #expect(state.activeSession(on: "seat0")?.conditions.isLocked == .yes)
    state.handle(.reported(id: "1", locked: .no))
    #expect(state.activeSession(on: "seat0")?.conditions.isLocked == .yes)
    state.handle(.userUnlocked(id: "1"))
    #expect(state.activeSession(on: "seat0")?.conditions.isLocked == .no)
  }

  @Test func `a session of another user with the same id inherits no lock`() {
    let state = state(
      .read(Self.path, properties(locked: true)), .logindGone, .read(Self.path, properties(uid: 1001)), .synchronized)
    #expect(state.activeSession(on: "seat0")?.conditions.isLocked == .unknown)
  }

  @Test func `a list removes sessions that are gone`() {
    let state = state(.read("/a", properties("a")), .read("/b", properties("b")), .listed(["/b"]))
    #expect(state.sessions.map(\.id) == ["b"])
  }

  @Test func `a session without a lock hint has an unknown lock state`() {
    let state = state(.read("/a", properties(locked: nil)))
    #expect(state.sessions.first?.conditions.isLocked == .unknown)
  }

  @Test func `a session with a property of the wrong type is ignored`() {
    for name in ["Id", "User", "Seat", "Type", "Class", "Remote", "Active", "State"] {
      var wrong = properties()
      wrong[name] = .uint64(1)
      #expect(state(.read("/a", wrong)).sessions.isEmpty, "\(name)")
    }
  }

  @Test func `sleep is unknown until logind reports it`() {
    #expect(state().isSleeping == .unknown)
    #expect(state(.sleeping(true)).isSleeping == .yes)
    #expect(state(.sleeping(true), .logindGone).isSleeping == .unknown)
  }
}

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
