import ScanGate
import Testing

@testable import Agent

struct DisplayQuestionTests {
  private static func isOpen(_ reasons: SuspendReasons?, readers: Int = 1, isRegistered: Bool = true) -> Bool {
    DisplayQuestion(isRegistered: isRegistered, reasons: reasons.map { Set($0.names) }, readers: readers).isOpen
  }

  @Test func itIsOpenWhereOnlyTheDisplayMayKeepTheReaderOff() {
    #expect(!Self.isOpen([], isRegistered: false))
    #expect(Self.isOpen(nil))
    #expect(Self.isOpen([]))
    #expect(Self.isOpen(.displayOff))
    for (reason, name) in SuspendReasons.all where reason != .displayOff {
      #expect(!Self.isOpen(reason), "\(name)")
      #expect(!Self.isOpen([reason, .displayOff]), "\(name)")
    }
  }

  /// The reasons of all readers come as one: the other one may be missing, or its seat be locked, while this one waits for the display.
  @Test func ofSeveralReadersOnlyWhatHoldsForAllClosesIt() {
    for reason in [SuspendReasons.locked, .noReader, .noAgent, .inactive, .airplaneMode, .camera, .readerSession] {
      #expect(Self.isOpen([reason, .displayOff], readers: 2))
    }
    for reason in [SuspendReasons.disabled, .sleeping, .inhibited] {
      #expect(!Self.isOpen([reason, .displayOff], readers: 2))
    }
  }

  @Test func aReasonThatIsNotKnownClosesIt() {
    #expect(!DisplayQuestion(isRegistered: true, reasons: ["the-moon"], readers: 1).isOpen)
  }
}
