import Presence
import ReaderProtocol
import Testing

@testable import Daemon

/// Each condition stops scanning. Tags that are read while the goal to stop is on its way to the reader are dropped.
@Suite struct GateChangeTests: DaemonStateSuite {
  /// A condition, by the reason that it gives.
  enum Change: String, CaseIterable {
    case lock = "session-locked"
    case reportedLock = "session-locked "
    case anotherSession = "session-inactive"
    case sleep = "sleeping"
    case inhibitor = "inhibited"
    case masterSwitch = "disabled"
    case displayOff = "display-off"
    case camera
    case airplaneMode = "airplane-mode"

    var reason: String { self == .reportedLock ? Change.lock.rawValue : rawValue }
  }

  var state = DaemonState(policy: .init(), isEnabled: true)
  var clock = ManualClock()
  var stopsAtOnce = false

  @Test(arguments: Change.allCases)
  mutating func `a change stops scanning, and a tag read before the reader has stopped is dropped`(change: Change) {
    begin()
    let read = state.readers[0]?.epoch
    #expect(make(change).contains(.scan(0, false)))
    #expect(state.suspendReasons == [change.reason])
    #expect(Self.delivered(tap("late", epoch: read)) == [])
    _ = reach()
    #expect(undo(change).contains(.scan(0, true)))
    #expect(state.suspendReasons == [])
    #expect(Self.delivered(tap("later", epoch: read)) == [])
    #expect(Self.delivered(tap("a")) == ["a to :1.7"])
  }

  @Test(arguments: Change.allCases)
  mutating func `the tag is dropped also if the change ends before the reader stops`(change: Change) {
    begin()
    let read = state.readers[0]?.epoch
    _ = make(change)
    #expect(undo(change).contains(.scan(0, true)))
    #expect(Self.delivered(tap("late", epoch: read)) == [])
    #expect(Self.delivered(tap("a")) == ["a to :1.7"])
  }

  private mutating func make(_ change: Change) -> [DaemonState.Action] {
    switch change {
    case .lock: tell(.login(Self.login(locked: true)))
    case .anotherSession: tell(.login(Self.login(.read(Self.session, Samples.properties(active: false)))))
    case .sleep: tell(.login(Self.login(.read(Self.session, Samples.properties()), .sleeping(true))))
    case .inhibitor: tell(.inhibited(by: [Samples.alice.uid]))
    case .masterSwitch: tell(.enabled(false))
    case .reportedLock: report(["locked": true]) ?? []
    case .displayOff, .camera, .airplaneMode: report([change.rawValue: true]) ?? []
    }
  }

  private mutating func undo(_ change: Change) -> [DaemonState.Action] {
    switch change {
    case .lock, .anotherSession, .sleep: tell(.login(Self.login(locked: false)))
    case .inhibitor: tell(.inhibited(by: []))
    case .masterSwitch: tell(.enabled(true))
    case .reportedLock, .displayOff, .camera, .airplaneMode: report([:]) ?? []
    }
  }
}
