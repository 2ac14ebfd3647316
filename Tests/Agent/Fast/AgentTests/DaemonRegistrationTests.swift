import Bus
import Names
import Presence
import Testing

@testable import Agent

/// The reports to the daemon and their order, without a bus.
struct DaemonRegistrationTests {
  private static let refused = BusError(name: Names.Errors.notASession, message: "no session")
  private static let timedOut = BusError.timedOut()
  private var registration = DaemonRegistration(desired: .init(conditions: [:]), reportPause: .seconds(2))

  private mutating func register() {
    #expect(registration.daemonChanged(isPresent: true) == .register(registration.desired))
    #expect(!registration.isRegistered)
    #expect(registration.ended() == nil)
    #expect(registration.isRegistered)
  }

  @Test mutating func `without a daemon no report is sent, and the registration has the latest conditions`() {
    #expect(registration.report(["camera": true]) == nil)
    #expect(registration.report(.init(conditions: ["locked": false], isUnlockedByUser: true)) == nil)
    #expect(registration.lockKnowledge == .known)
    let report = DaemonRegistration.Report(conditions: ["locked": false], isUnlockedByUser: true)
    #expect(registration.daemonChanged(isPresent: true) == .register(report))
    #expect(report.values == ["locked": false, "unlocked-by-user": true])
    #expect(registration.lockKnowledge == .pending)
    #expect(registration.ended() == nil)
    #expect(registration.isRegistered && registration.lockKnowledge == .known)
    #expect(!registration.desired.isUnlockedByUser)
  }

  @Test mutating func `a change during the registration is reported after it`() {
    _ = registration.daemonChanged(isPresent: true)
    #expect(registration.report(["locked": true]) == nil)
    #expect(registration.ended() == .report(.init(conditions: ["locked": true])))
    #expect(registration.isRegistered && registration.lockKnowledge == .pending)
    #expect(registration.ended() == nil)
    #expect(registration.lockKnowledge == .known)
  }

  @Test mutating func `only one report is sent at a time, and the next one is the newest`() {
    register()
    #expect(registration.report([:]) == nil)
    #expect(registration.report(["locked": true]) == .report(.init(conditions: ["locked": true])))
    #expect(registration.report(["locked": false]) == nil)
    #expect(registration.report(["camera": true]) == nil)
    #expect(registration.ended() == .report(.init(conditions: ["camera": true])))
    #expect(registration.ended() == nil)
  }

  @Test mutating func `a lock is not known to the daemon while an earlier unlock is on its way`() {
    register()
    _ = registration.report(.init(conditions: ["locked": true]))
    #expect(registration.ended() == nil)
    let unlock = DaemonRegistration.Report(conditions: ["locked": false], isUnlockedByUser: true)
    #expect(registration.report(unlock) == .report(unlock))
    #expect(registration.report(.init(conditions: ["locked": true])) == nil)
    #expect(registration.lockKnowledge == .pending)
    #expect(registration.ended() == .report(.init(conditions: ["locked": true])))
    #expect(registration.lockKnowledge == .pending)
    #expect(registration.ended() == nil)
    #expect(registration.lockKnowledge == .known)
  }

  @Test mutating func `a lock ends a command to unlock that was not delivered`() {
    #expect(registration.report(.init(conditions: ["locked": false], isUnlockedByUser: true)) == nil)
    #expect(registration.report(["locked": true]) == nil)
    #expect(registration.daemonChanged(isPresent: true) == .register(.init(conditions: ["locked": true])))
  }

  @Test mutating func `another condition does not delay the reply to a lock command`() {
    register()
    _ = registration.report(.init(conditions: ["locked": true]))
    _ = registration.report(["locked": true, "camera": true])
    #expect(registration.lockKnowledge == .pending)
    #expect(registration.ended() != nil)
    #expect(registration.lockKnowledge == .known)
  }

  @Test mutating func `a failed report may have been applied, so the former conditions are reported again`() {
    register()
    _ = registration.report(["locked": true])
    _ = registration.report([:])
    #expect(registration.ended(Self.timedOut) == .report(.init(conditions: [:])))
    #expect(registration.ended(Self.timedOut) == .pause(.seconds(2)))
    #expect(registration.isRegistered && registration.lockKnowledge == .failed(Self.timedOut))
    #expect(registration.report([:]) == nil)
    #expect(registration.ended() == .report(.init(conditions: [:])))
    #expect(registration.ended(Self.timedOut) == .pause(.seconds(2)))
    // A change ends the pause.
    #expect(registration.report(["camera": true]) == .report(.init(conditions: ["camera": true])))
  }

  @Test mutating func `the pauses between registrations grow to thirty seconds`() {
    _ = registration.daemonChanged(isPresent: true)
    for pause in [0.5, 1, 2, 4, 8, 16, 30, 30] {
      #expect(registration.ended(Self.refused) == .pause(.seconds(pause)))
      // The daemon does not scan for an agent that it refused, so the agent does not shorten the pause.
      #expect(registration.report(.init(conditions: ["locked": true])) == nil)
      #expect(registration.lockKnowledge == .known && registration.error == Self.refused)
      #expect(registration.ended() == .register(.init(conditions: ["locked": true])))
    }
    #expect(registration.error == Self.refused)
    #expect(registration.ended() == nil)
    #expect(registration.error == nil)
  }

  @Test mutating func `a registration that timed out may be accepted later, so a change ends the pause`() {
    _ = registration.daemonChanged(isPresent: true)
    #expect(registration.ended(Self.timedOut) == .pause(.milliseconds(500)))
    #expect(registration.lockKnowledge == .pending)
    let locked = DaemonRegistration.Report(conditions: ["locked": true])
    #expect(registration.report(["locked": true]) == .register(locked))
    #expect(registration.report([:]) == nil)
    let tooMany = BusError(name: Names.Errors.tooMany, message: "")
    #expect(registration.ended(tooMany) == .register(.init(conditions: [:])))
    #expect(registration.ended(Self.refused) == .pause(.seconds(2)))
    #expect(registration.report(["locked": true]) == nil)
  }

  @Test mutating func `a command is sent again even if it changes no condition`() {
    register()
    for _ in 0..<2 {
      let report = DaemonRegistration.Report(conditions: ["locked": false], isUnlockedByUser: true)
      #expect(registration.report(.init(conditions: ["locked": false], isUnlockedByUser: true)) == .report(report))
      #expect(registration.ended() == nil)
    }
    #expect(registration.report(.init(conditions: ["locked": false])) == nil)
  }

  @Test mutating func `a restarted daemon gets all conditions again`() {
    register()
    _ = registration.report(["locked": true])
    #expect(registration.daemonChanged(isPresent: false) == nil)
    #expect(!registration.isRegistered && registration.lockKnowledge == .known)
    #expect(registration.ended() == nil)
    #expect(registration.daemonChanged(isPresent: true) == .register(.init(conditions: ["locked": true])))
  }
}

struct DisplayWatchTests {
  private static func isNeeded(_ reasons: SuspendReasons?, readers: Int = 1, isRegistered: Bool = true) -> Bool {
    DisplayWatch(isRegistered: isRegistered, reasons: reasons.map { Set($0.names) }, readers: readers).isNeeded
  }

  @Test func `the display is watched if only the display may stop the reader`() {
    #expect(!Self.isNeeded([], isRegistered: false))
    #expect(Self.isNeeded(nil))
    #expect(Self.isNeeded([]))
    #expect(Self.isNeeded(.displayOff))
    for (reason, name) in SuspendReasons.all where reason != .displayOff {
      #expect(!Self.isNeeded(reason), "\(name)")
      #expect(!Self.isNeeded([reason, .displayOff]), "\(name)")
    }
  }

  /// The daemon merges the reasons of all readers: while this reader waits for the display, another one may be missing
  /// or have a locked seat.
  @Test func `with several readers only a reason that stops all of them counts`() {
    for reason in [SuspendReasons.locked, .noReader, .noAgent, .inactive, .airplaneMode, .camera, .readerSession] {
      #expect(Self.isNeeded([reason, .displayOff], readers: 2))
    }
    for reason in [SuspendReasons.disabled, .sleeping, .inhibited] {
      #expect(!Self.isNeeded([reason, .displayOff], readers: 2))
    }
  }

  @Test func `an unknown reason stops the reader`() {
    #expect(!DisplayWatch(isRegistered: true, reasons: ["the-moon"], readers: 1).isNeeded)
  }
}
