import Bus
import Names
import Testing

@testable import CommandLineTool

/// What a daemon that was started anew says to a command whose reader it does not lend.
@Suite struct LoanLossTests {
  private func found(_ name: String, _ state: String) -> LoanLoss? {
    LoanLoss(BusError(name: name, message: "because of \(name)"), reader: state)
  }

  @Test(arguments: ["absent", "failed", "ready", "scanning", ""]) func whatIsAboutToBeLentIsNotLost(state: String) {
    #expect(found(Names.Errors.notPossible, state) == nil)
    #expect(found(BusError.Name.nameHasNoOwner, state) == nil)
    // A daemon that is slow, and a bus that is started anew with it.
    for name in [BusError.Name.noReply, BusError.Name.timeout, BusError.Name.disconnected] {
      #expect(found(name, state) == nil)
    }
  }

  @Test(arguments: ["released", "in-session"]) func whatSomebodyElseHasIsLostAndTheMessageSaysToWhom(
    state: String
  ) throws {
    let loss = try #require(found(Names.Errors.notPossible, state))
    #expect(loss.message.contains("because of \(Names.Errors.notPossible). The command continues without it"))
    #expect(loss.message.hasSuffix("wait, or stop the command and run it again later"))
    #expect(loss.exitCode(of: 1) == Names.ExitCode.tryAgain)
  }

  @Test func whoMayNotHaveItAnyMoreHasLostItWhateverItsState() {
    for state in ["ready", "released"] {
      // Of what the help names: 75, and 77.
      #expect(found(BusError.Name.unknownMethod, state)?.exitCode(of: 1) == Names.ExitCode.tryAgain)
      #expect(found(Names.Errors.notAuthorized, state)?.exitCode(of: 1) == Names.ExitCode.notAllowed)
      #expect(found(Names.Errors.failed, state)?.exitCode(of: 1) == Names.ExitCode.tryAgain)
    }
  }

  /// A command that has done its work has not failed, and a signal is somebody's wish.
  @Test func onlyAFailureOfTheCommandIsForWantOfTheReader() throws {
    let loss = try #require(found(Names.Errors.notPossible, "released"))
    #expect([0, 128 + 2, 128 + 15].map { loss.exitCode(of: $0) } == [0, 130, 143])
    #expect([1, 2, 127].map { loss.exitCode(of: $0) } == [75, 75, 75])
  }

  @Test func aReaderThatNoDaemonKnowsIsNamed() {
    let loss = LoanLoss(unknownToDaemon: "pn532_uart:/dev/x")
    #expect(loss.message.contains("pn532_uart:/dev/x") && loss.message.contains("tagroute status"))
    #expect([0, 1, 143].map { loss.exitCode(of: $0) } == [0, Names.ExitCode.tryAgain, 143])
  }
}
