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

  @Test func `a reader is named in each form that status shows`() throws {
    let readers = [reader(0, "a"), reader(1, "b")]
    for text in ["1", "b", "/org/tagroute/Tagroute1/readers/1", "1: PN532"] {
      var choice = ReaderChoice(text)
      #expect(try choice.choose(among: readers) == "/org/tagroute/Tagroute1/readers/1", "\(text)")
    }
    var choice = ReaderChoice("PN532")
    #expect(try choice.choose(among: [readers[0]]).string == readers[0].path)
    choice = ReaderChoice("PN532")
    let failure = #expect(throws: Failure.self) { try choice.choose(among: readers) }
    #expect(
      failure?.message.contains("0: PN532 (a), 1: PN532 (b)") == true && failure?.exitCode == Names.ExitCode.usage)
    for text in ["", "2", "PN", "readers"] {
      choice = ReaderChoice(text)
      #expect(throws: Failure.self) { try choice.choose(among: readers) }
    }
    #expect(ReaderChoice.text(forPath: readers[1].path) == "reader 1")
    #expect(ReaderChoice.text(for: readers[1]) == "1: PN532")
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

/// How the command reacts if a restarted daemon does not lend it the reader.
@Suite struct LoanLossTests {
  private func found(_ name: String, _ state: String) -> LoanLoss? {
    LoanLoss(BusError(name: name, message: "because of \(name)"), reader: state)
  }

  @Test(arguments: ["absent", "failed", "ready", "scanning", ""])
  func `a loan is not lost while the daemon may still lend the reader`(state: String) {
    #expect(found(Names.Errors.notPossible, state) == nil)
    #expect(found(BusError.Name.nameHasNoOwner, state) == nil)
    // The daemon is slow, or the bus restarts with it.
    for name in [BusError.Name.noReply, BusError.Name.timeout, BusError.Name.disconnected] {
      #expect(found(name, state) == nil)
    }
  }

  @Test(arguments: ["released", "in-session"])
  func `a loan is lost if another client has the reader, and the message gives the daemon's reason`(
    state: String
  ) throws {
    let loss = try #require(found(Names.Errors.notPossible, state))
    #expect(loss.message.contains("because of \(Names.Errors.notPossible). The command continues without it"))
    #expect(loss.message.hasSuffix("wait, or stop the command and run it again later"))
    #expect(loss.exitCode(of: 1) == Names.ExitCode.tryAgain)
  }

  @Test func `a loan is lost in any reader state if the daemon refuses it`() {
    for state in ["ready", "released"] {
      // The help documents 75 and 77.
      #expect(found(BusError.Name.unknownMethod, state)?.exitCode(of: 1) == Names.ExitCode.tryAgain)
      #expect(found(Names.Errors.notAuthorized, state)?.exitCode(of: 1) == Names.ExitCode.notAllowed)
      #expect(found(Names.Errors.failed, state)?.exitCode(of: 1) == Names.ExitCode.tryAgain)
    }
  }

  /// If the command succeeded, the exit code stays 0. If a signal ended the command, the signal stays in the exit code.
  @Test func `only a failure of the command is reported as a lost reader`() throws {
    let loss = try #require(found(Names.Errors.notPossible, "released"))
    #expect([0, 128 + 2, 128 + 15].map { loss.exitCode(of: $0) } == [0, 130, 143])
    #expect([1, 2, 127].map { loss.exitCode(of: $0) } == [75, 75, 75])
  }

  @Test func `a reader that no daemon knows is named`() {
    let loss = LoanLoss(unknownToDaemon: "pn532_uart:/dev/x")
    #expect(loss.message.contains("pn532_uart:/dev/x") && loss.message.contains("tagroute status"))
    #expect([0, 1, 143].map { loss.exitCode(of: $0) } == [0, Names.ExitCode.tryAgain, 143])
  }
}
