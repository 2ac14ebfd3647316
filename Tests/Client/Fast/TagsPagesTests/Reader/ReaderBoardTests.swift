import Presence
import TagsPages
import Testing

@testable import TagrouteClient

struct ReaderBoardTests {
  private var board = ReaderBoard()

  private static let reader = ReaderStatus(
    path: "/r/0", name: "ACS ACR122U PICC Interface 00 00", device: "pcsc:ACS ACR122U PICC Interface 00 00",
    seat: "seat0", state: "scanning", stateReason: "", technologies: ["type-2", "type-4a"],
    counters: ["placements": 3, "messages": 2, "problems": 1, "restarts": 0])

  private static func status(
    enabled: Bool = true, scanning: Bool = true, _ reasons: [String] = [], _ readers: [ReaderStatus] = [reader]
  ) -> DaemonStatus {
    DaemonStatus(version: "0.1.0", enabled: enabled, scanning: scanning, suspendReasons: reasons, readers: readers)
  }

  /// A board with this answer of the daemon.
  private mutating func open(_ status: DaemonStatus = status(), _ inhibitors: [InhibitorDescription] = []) {
    #expect(board.handle(.changed) == [.ask])
    #expect(board.handle(.answered(status, inhibitors)) == [.show])
  }

  @Test mutating func aReaderIsShownWithWhatIsKnownOfIt() {
    open()
    let reader = board.readers.first
    #expect(reader?.name == Self.reader.name)
    #expect(
      reader?.rows.map { "\($0.title): \($0.text)" } == [
        "State: Looks for tags", "Model: ACS ACR122U", "Driver: pcscd",
        "Device: pcsc:ACS ACR122U PICC Interface 00 00", "Seat: seat0",
        "Kinds of tags: NFC Forum Type 2, NFC Forum Type 4A",
      ])
    #expect(reader?.counters.map(\.text) == ["3", "2", "1", "0"])
    #expect(board.isOn && board.canSwitch)
  }

  @Test mutating func aReaderOnASerialLineIsNamedOnce() {
    var reader = Self.reader
    (reader.name, reader.device) = ("pn532_uart:/dev/ttyUSB0", "pn532_uart:/dev/ttyUSB0")
    (reader.state, reader.stateReason) = ("absent", "plug it in")
    open(Self.status([], [reader]))
    #expect(board.readers.first?.name == "pn532_uart:/dev/ttyUSB0")
    #expect(
      board.readers.first?.rows.prefix(3).map(\.text) == ["Not plugged in", "plug it in", "libnfc (pn532_uart)"])
    #expect(board.readers.first?.loan == .notPossible)
  }

  @Test(arguments: SuspendReasons.all.map(\.name)) mutating func eachReasonIsASentence(reason: String) {
    open(Self.status(scanning: false, [reason]))
    #expect(board.text != reason && board.text.hasSuffix("."))
  }

  @Test mutating func aProgramThatHasPausedScanningIsNamed() {
    let inhibitor = InhibitorDescription(who: "Backup", why: "copies\u{202E} tags", process: 7)
    open(Self.status(scanning: false, ["session-locked", "inhibited"]), [inhibitor])
    #expect(board.text == "The screen is locked. Backup has paused scanning: copies tags.")
  }

  @Test mutating func aThousandChangesCostTwoQuestions() {
    #expect(board.handle(.changed) == [.ask])
    for _ in 0..<1000 { #expect(board.handle(.changed).isEmpty) }
    #expect(board.handle(.answered(Self.status(), [])) == [.show, .ask])
    #expect(board.handle(.answered(Self.status(), [])) == [.show])
  }

  @Test mutating func theSwitchStaysWhereItWasMovedUntilTheDaemonHasIt() {
    open()
    #expect(board.handle(.switched(false)) == [.show, .switchScanning(false)])
    #expect(!board.isOn && !board.canSwitch)
    // An answer from before the change.
    #expect(board.handle(.changed) == [.ask])
    #expect(board.handle(.answered(Self.status(), [])) == [.show])
    #expect(!board.isOn)
    #expect(board.handle(.switchEnded(nil)) == [.show, .ask])
    _ = board.handle(.answered(Self.status(enabled: false, scanning: false, ["disabled"]), []))
    #expect(!board.isOn && board.canSwitch)
    #expect(board.text == "Scanning is switched off.")
  }

  @Test mutating func aRefusedSwitchGoesBack() {
    open()
    _ = board.handle(.switched(false))
    #expect(board.handle(.switchEnded("no")) == [.report("no"), .show, .ask])
    _ = board.handle(.answered(Self.status(), []))
    #expect(board.isOn && board.canSwitch)
  }

  @Test mutating func aReaderIsLentAndTakenBack() {
    open()
    #expect(board.readers.first?.loan == .possible)
    #expect(board.handle(.lent("/r/0")) == [.show, .lend("/r/0")])
    #expect(board.readers.first?.loan == .starting)
    #expect(board.handle(.lent("/r/0")).isEmpty)
    #expect(board.handle(.lendingEnded("/r/0", nil)) == [.show, .ask])
    #expect(board.readers.first?.loan == .held)
    #expect(board.readers.first?.loanText == "Another program can open it as pcsc:ACS ACR122U PICC Interface 00 00")
    #expect(board.handle(.takenBack("/r/0")) == [.takeBack("/r/0"), .show])
    #expect(board.readers.first?.loan == .possible)
  }

  @Test mutating func aRefusedOrLostLoanIsReported() {
    open()
    _ = board.handle(.lent("/r/0"))
    #expect(board.handle(.lendingEnded("/r/0", "in use")) == [.report("in use"), .show, .ask])
    _ = board.handle(.answered(Self.status(), []))
    _ = board.handle(.lent("/r/0"))
    _ = board.handle(.lendingEnded("/r/0", nil))
    let actions = board.handle(.loanLost("/r/0"))
    #expect(actions.first == .takeBack("/r/0") && actions.last == .show && actions.count == 3)
    #expect(board.handle(.loanLost("/r/0")).isEmpty)
  }

  @Test mutating func aDaemonThatIsAwayComesBack() {
    open()
    _ = board.handle(.changed)
    #expect(board.handle(.unreachable("away")) == [.show])
    #expect(board.text == "away" && board.readers.isEmpty && !board.canSwitch)
    open()
    #expect(board.readers.count == 1 && board.canSwitch)
  }
}
