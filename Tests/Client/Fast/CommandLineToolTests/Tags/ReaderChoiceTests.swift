import Bus
import Names
import Testing

@testable import CommandLineTool
@testable import TagrouteClient

/// Which reader a name selects, also after a restart of the daemon.
@Suite struct ReaderChoiceTests {
  private func reader(_ number: Int, _ device: String) -> ReaderStatus {
    ReaderStatus(
      path: "/org/tagroute/Tagroute1/readers/\(number)", name: "PN532", device: device, seat: "seat0", state: "ready",
      stateReason: "")
  }

  @Test func `a number selects the same device after a restart, or none`() throws {
    var choice = ReaderChoice("0")
    #expect(try choice.choose(among: [reader(0, "a"), reader(1, "b")]).string.hasSuffix("/0"))
    #expect(try choice.choose(among: [reader(0, "b"), reader(1, "a")]).string.hasSuffix("/1"))
    let failure = #expect(throws: Failure.self) { try choice.choose(among: [reader(0, "b")]) }
    #expect(failure?.exitCode == Names.ExitCode.tryAgain)
    #expect(failure?.message.contains("the reader a is gone") == true)
  }

  @Test func `a loan is renewed for the same reader`() {
    let (first, second) = (reader(0, "a"), reader(1, "b"))
    #expect(ReaderLoan.reader("b", among: [first, second], of: 2) == second)
    // Another device name is accepted if there is only one reader.
    #expect(ReaderLoan.reader("b", among: [first], of: 1) == first)
    #expect(ReaderLoan.reader("b", among: [first], of: 2) == nil)
    #expect(ReaderLoan.reader("c", among: [first, second], of: 2) == nil)
  }
}
