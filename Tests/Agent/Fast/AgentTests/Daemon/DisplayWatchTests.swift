import Presence
import Testing

@testable import Agent

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
