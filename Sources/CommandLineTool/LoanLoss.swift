import Bus
import Names
import TagrouteClient

/// Why a reader that was lent to a command is so no more: the daemon was started anew, and does not lend it again.
struct LoanLoss: Hashable, Sendable {
  /// For the person who runs the command: what happened, and what to do.
  let message: String
  private let exitCode: Int32

  /// Nil where the daemon is about to lend it: the next change says when to ask again, or, where it has not answered at all, the clock.
  ///
  /// - Parameters:
  ///   - error: what the daemon has answered to whoever wants the reader again.
  ///   - state: what the reader was just before that.
  init?(_ error: BusError, reader state: String) {
    switch error.name {
    case BusError.Name.nameHasNoOwner, BusError.Name.serviceUnknown: return nil
    case _ where error.isUnanswered: return nil
    // Not open yet, or open in the command, from which nobody takes it. Whoever takes it from now on makes a change of it.
    case Names.Errors.notPossible where !Self.isTaken(state): return nil
    default: break
    }
    message = """
      the daemon was started anew and lends the reader to the command no more: \(error.message). The command goes on without it until that is \
      over, and is given it back then: wait, or end the command and run it again later
      """
    // Whatever else a daemon may say, one of another version say: for the command it had no reader to lend.
    let isNotAllowed = Failure(error, from: .daemon).exitCode == Names.ExitCode.notAllowed
    exitCode = isNotAllowed ? Names.ExitCode.notAllowed : Names.ExitCode.tryAgain
  }

  /// Where a daemon has readers and none of them can be told to be the one that was lent: it may call that one otherwise, or cannot find it
  /// while the command has it open.
  ///
  /// - Parameter device: what was lent.
  init(unknownToDaemon device: String) {
    message = """
      the daemon was started anew and has other readers, none of which is known to be \(device), which it lent to the command. The command goes on \
      without it until the daemon has a reader of that name: wait, or end the command, look at tagroute status, and run it again
      """
    exitCode = Names.ExitCode.tryAgain
  }

  /// Whether somebody else has a reader in this state.
  static func isTaken(_ state: String) -> Bool { ["released", "in-session"].contains(state) }

  /// What a command that has ended without the reader means for a script.
  ///
  /// - Parameter code: the command's exit code, as a shell counts.
  /// - Returns: the reason why there was no reader, in the place of a failure. What the command has done without a failure is done, and a signal
  ///   (128 and its number) was somebody's wish.
  func exitCode(of code: Int32) -> Int32 { (1...128).contains(code) ? exitCode : code }
}
