import Bus
import EventLoop
import Presence
import TestKit
import Testing

@Suite(.timeLimit(.minutes(5))) struct LoginMonitorTests {
  private struct Rig {
    let bus: PrivateBus
    let logind: LogindStandIn
    let monitor: LoginMonitor
    private let changes: AsyncStream<LoginState>

    init(_ sessions: [LogindStandIn.Session] = []) async throws {
      bus = try await PrivateBus.start(type: "system")
      logind = try await LogindStandIn.start(on: BusAddress(bus.address), sessions: sessions)
      let connection = try await Connection.open(BusAddress(bus.address), on: EventLoop(label: "monitor"))
      monitor = LoginMonitor(connection)
      changes = monitor.states
      try await monitor.start()
    }

    @discardableResult
    func until(_ isExpected: (LoginState) -> Bool) async throws -> LoginState {
      // A state in the stream may be older than the monitor's. It is only the reason to check the monitor again.
      var state = await monitor.state
      while !isExpected(state) {
        try await next { _ in true }
        state = await monitor.state
      }
      return state
    }

    /// Waits for an expected state among those not consumed yet.
    @discardableResult
    func next(_ isExpected: (LoginState) -> Bool) async throws -> LoginState {
      for await state in changes where isExpected(state) { return state }
      throw RigError("the stream of states ended")
    }
  }

  private static let alice = LogindStandIn.Session(id: "2", uid: 1000)
  private static let bob = {
    var session = LogindStandIn.Session(id: "3", uid: 1002)
    session.seat = "seat1"
    return session
  }()

  @Test func `existing sessions are read and followed`() async throws {
    let rig = try await Rig([Self.alice])
    let first = try await rig.until { $0.activeSession(on: "seat0") != nil }
    #expect(first.activeSession(on: "seat0")?.uid == 1000)
    #expect(first.isSleeping == .no)
    try await rig.logind.update("2") { $0.isLocked = true }
    try await rig.until { $0.session("2")?.conditions.isLocked == .yes }
    try await rig.logind.update("2") { $0.isLocked = false }
    try await rig.until { $0.session("2")?.conditions.isLocked == .no }
  }

  @Test func `everything is read again only after a pause, however many requests there are`() async throws {
    let rig = try await Rig([Self.alice])
    try await rig.until { $0.activeSession(on: "seat0") != nil }
    let start = ContinuousClock.now
    for _ in 0..<5 { _ = await rig.monitor.refresh() }
    #expect(.now - start >= .milliseconds(400))
  }

  @Test func `the monitor follows sleep and wake-up`() async throws {
    let rig = try await Rig()
    try await rig.until { $0.isSleeping == .no }
    try await rig.logind.prepareForSleep(true)
    try await rig.until { $0.isSleeping == .yes }
    try await rig.logind.prepareForSleep(false)
    try await rig.until { $0.isSleeping == .no }
  }

  @Test func `a reading that a wake-up overtakes does not report sleep again`() async throws {
    let rig = try await Rig()
    try await rig.logind.prepareForSleep(true)
    try await rig.until { $0.isSleeping == .yes }
    // After this, the readings of the start are over. No later reading corrects the one that is overtaken.
    _ = await rig.monitor.refresh()
    // logind reads the state for its reply before the signal, and sends the reply after it.
    await rig.logind.overtakeNextReadingOfSleep(with: false)
    _ = await rig.monitor.refresh()
    // The monitor may handle the reply before the signal that came first. After another signal, it has handled both.
    try await rig.logind.add(LogindStandIn.Session(id: "c1", uid: 1001))
    #expect(try await rig.until { $0.session("c1") != nil }.isSleeping == .no)
  }

  @Test func `no intermediate state is skipped`() async throws {
    let rig = try await Rig([Self.alice])
    try await rig.until { $0.activeSession(on: "seat0") != nil }
    await rig.monitor.agentReported("2", locked: .no)
    // The test does not read the stream meanwhile.
    await rig.monitor.agentReported("2", locked: .yes)
    await rig.monitor.agentReported("2", locked: .no)
    try await rig.next { $0.session("2")?.conditions.isLocked == .yes }
    try await rig.next { $0.session("2")?.conditions.isLocked == .no }
  }

  @Test func `a locked session stays locked after a restart of logind until the user unlocks it`() async throws {
    let rig = try await Rig([Self.alice])
    try await rig.until { $0.activeSession(on: "seat0") != nil }
    try await rig.logind.update("2") { $0.isLocked = true }
    try await rig.until { $0.session("2")?.conditions.isLocked == .yes }
    await rig.logind.stop()
    try await rig.until { !$0.isAvailable }
    try await rig.logind.restart()
    let state = try await rig.until { $0.isAvailable }
    #expect(state.activeSession(on: "seat0")?.conditions.isLocked == .yes)
    // An agent reports on its own screen saver only. That does not unlock the locker that logind reported.
    await rig.monitor.agentReported("2", locked: .no)
    #expect(await rig.monitor.state.activeSession(on: "seat0")?.conditions.isLocked == .yes)
    await rig.monitor.userUnlocked("2")
    #expect(await rig.monitor.state.activeSession(on: "seat0")?.conditions.isLocked == .no)
  }

  @Test func `a property without a change signal is read with the next signal`() async throws {
    let rig = try await Rig([Self.alice])
    try await rig.until { $0.activeSession(on: "seat0") != nil }
    try await rig.logind.update("2") { $0.state = "closing" }
    #expect(await rig.monitor.refresh().activeSession(on: "seat0") == nil)
    try await rig.logind.update("2") { $0.state = "active" }
    try await rig.logind.update("2") { $0.isLocked = true }
    try await rig.until { $0.activeSession(on: "seat0")?.conditions.isLocked == .yes }
  }

  @Test func `the monitor recovers after a restart of the bus`() async throws {
    let rig = try await Rig([Self.alice])
    try await rig.until { $0.activeSession(on: "seat0") != nil }
    try await rig.bus.stop()
    try await rig.until { !$0.isAvailable }
    try await rig.bus.restart()
    try await rig.until { $0.activeSession(on: "seat0")?.id == "2" }
  }

  @Test func `the monitor waits for a logind that is not running yet`() async throws {
    let bus = try await PrivateBus.start(type: "system")
    let connection = try await Connection.open(BusAddress(bus.address), on: EventLoop(label: "monitor"))
    let monitor = LoginMonitor(connection)
    try await monitor.start()
    #expect(await !monitor.refresh().isAvailable)
    let logind = try await LogindStandIn.start(on: BusAddress(bus.address), sessions: [Self.alice])
    for await state in monitor.states where state.activeSession(on: "seat0")?.id == "2" { break }
    #expect(await monitor.state.isAvailable)
    await logind.stop()
  }

  @Test func `a logind that does not reply in time is asked again`() async throws {
    let bus = try await PrivateBus.start(type: "system")
    let logind = try await Connection.open(BusAddress(bus.address), on: EventLoop(label: "logind"))
    let attempts = Attempts()
    let manager = ExportedInterface(
      "org.freedesktop.login1.Manager",
      methods: [
        ExportedMethod("ListSessions", out: [Argument("sessions", "a(susso)")]) { _, _ in
          // One call comes from the start, and one from the owner of the name.
          if await attempts.next() <= 2 { try await hang() }
          return [.array(element: "(susso)", [])]
        }
      ])
    try await logind.export([manager], at: "/org/freedesktop/login1")
    try await logind.standIn(for: "org.freedesktop.login1")
    let connection = try await Connection.open(BusAddress(bus.address), on: EventLoop(label: "monitor"))
    let monitor = LoginMonitor(connection, timeout: .milliseconds(200))
    try await monitor.start()
    for await state in monitor.states where state.isAvailable { break }
    #expect(await monitor.state.isAvailable)
    await connection.close()
    await logind.close()
  }

  @Test func `a logind that returns errors is asked again`() async throws {
    let bus = try await PrivateBus.start(type: "system")
    let logind = try await LogindStandIn.start(on: BusAddress(bus.address), sessions: [Self.alice])
    await logind.fail(listings: 3)
    let connection = try await Connection.open(BusAddress(bus.address), on: EventLoop(label: "monitor"))
    let monitor = LoginMonitor(connection)
    try await monitor.start()
    for await state in monitor.states where state.activeSession(on: "seat0")?.id == "2" { break }
    #expect(await logind.listings > 3)
    await monitor.stop()
  }

  @Test func `a session that changes during each reading does not hide other sessions`() async throws {
    let bus = try await PrivateBus.start(type: "system")
    let logind = try await LogindStandIn.start(
      on: BusAddress(bus.address), sessions: [LogindStandIn.Session(id: "1", uid: 1001), Self.bob])
    await logind.changeDuringReadings(of: "1")
    let connection = try await Connection.open(BusAddress(bus.address), on: EventLoop(label: "monitor"))
    let monitor = LoginMonitor(connection)
    try await monitor.start()
    for await state in monitor.states where state.isAvailable { break }
    let state = await monitor.state
    #expect(state.session("1") != nil)
    #expect(state.activeSession(on: "seat1")?.uid == 1002)
    await monitor.stop()
  }

  @Test func `a reading that a lock overtakes does not unlock the session`() async throws {
    let rig = try await Rig([Self.alice])
    try await rig.until { $0.activeSession(on: "seat0") != nil }
    await rig.logind.changeDuringReadings(of: "2")
    _ = await rig.monitor.refresh()
    await rig.logind.changeDuringReadings(of: nil)
    let isLocked = Fact(await rig.logind.isLocked("2"))
    try await rig.until { $0.session("2")?.conditions.isLocked == isLocked }
    #expect(await rig.monitor.refresh().session("2")?.conditions.isLocked == isLocked)
  }

  @Test func `changes of a session without a seat are not followed`() async throws {
    var remote = LogindStandIn.Session(id: "9", uid: 1003)
    remote.seat = ""
    let rig = try await Rig([Self.alice, remote])
    try await rig.until { $0.isAvailable }
    try await rig.logind.update("9") { $0.isLocked = true }
    try await rig.logind.update("2") { $0.isLocked = true }
    // Signals arrive in the order in which they were sent.
    let state = try await rig.until { $0.session("2")?.conditions.isLocked == .yes }
    #expect(state.session("9")?.conditions.isLocked == .unknown)
  }

  @Test func `concurrent requests share a reading`() async throws {
    let rig = try await Rig([Self.alice])
    try await rig.until { $0.activeSession(on: "seat0") != nil }
    _ = await rig.monitor.refresh()
    let before = await rig.logind.listings
    await rig.monitor.refresh(50)
    // One reading for the first request, and one for all requests after that reading had started.
    #expect(await rig.logind.listings - before == 2)
  }
}

private actor Attempts {
  private var count = 0

  func next() -> Int {
    count += 1
    return count
  }
}

extension LoginMonitor {
  /// Calls `refresh` `count` times before a reply can arrive.
  fileprivate func refresh(_ count: Int) async {
    let tasks = (0..<count).map { _ in Task { await refresh() } }
    for task in tasks { _ = await task.value }
  }
}
