import Bus
import Names
import Testing

@testable import CommandLineTool
@testable import TagrouteClient

/// Which reader is meant, also where another daemon has taken the place of the one that was asked first.
@Suite struct ReaderChoiceTests {
  private func reader(_ number: Int, _ device: String) -> ReaderStatus {
    ReaderStatus(
      path: "/org/tagroute/Tagroute1/readers/\(number)", name: "PN532", device: device, seat: "seat0", state: "ready",
      stateReason: "")
  }

  @Test func aNumberIsTheSameDeviceForTheNextDaemonOrNone() throws {
    var choice = ReaderChoice("0")
    #expect(try choice.choose(among: [reader(0, "a"), reader(1, "b")]).string.hasSuffix("/0"))
    #expect(try choice.choose(among: [reader(0, "b"), reader(1, "a")]).string.hasSuffix("/1"))
    let failure = #expect(throws: Failure.self) { try choice.choose(among: [reader(0, "b")]) }
    #expect(failure?.exitCode == Names.ExitCode.tryAgain)
    #expect(failure?.message.contains("the reader a is gone") == true)
  }

  @Test func aLoanIsTakenAgainOfTheSameReader() {
    let (first, second) = (reader(0, "a"), reader(1, "b"))
    #expect(ReaderLoan.reader("b", among: [first, second], of: 2) == second)
    // By another name, where it can be no other.
    #expect(ReaderLoan.reader("b", among: [first], of: 1) == first)
    #expect(ReaderLoan.reader("b", among: [first], of: 2) == nil)
    #expect(ReaderLoan.reader("c", among: [first, second], of: 2) == nil)
  }
}
