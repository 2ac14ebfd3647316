import Bus
import Names
import TagrouteClient

/// Why a reader is no longer lent to a command: the daemon restarted and does not lend it again.
struct LoanLoss: Hashable, Sendable {
  /// What happened, and what to do.
  let message: String
  private let exitCode: Int32

  /// Nil if the daemon may lend it soon. The caller asks again after the next change or, without a reply, after a
  /// pause. `state` is the state of the reader just before the request.
  init?(_ error: BusError, reader state: String) {
    switch error.name {
    case BusError.Name.nameHasNoOwner, BusError.Name.serviceUnknown: return nil
    case _ where error.isUnanswered: return nil
    // The reader is not open yet, or open in the command. If another client takes it later, its state changes.
    case Names.Errors.notPossible where !Self.isTaken(state): return nil
    default: break
    }
    message = """
      the daemon restarted and no longer lends the reader to the command: \(error.message). The command continues \
      without it until the daemon lends it again: wait, or stop the command and run it again later
      """
    // Other errors, for example of a daemon with another version, mean that there is no reader to lend.
    let isNotAllowed = Failure(error, from: .daemon).exitCode == Names.ExitCode.notAllowed
    exitCode = isNotAllowed ? Names.ExitCode.notAllowed : Names.ExitCode.tryAgain
  }

  /// The daemon has readers, but none that is known to be the lent one. It may use another name for it, or cannot find
  /// it while the command has it open.
  init(unknownToDaemon device: String) {
    message = """
      the daemon restarted, and none of its readers is known to be \(device), which it lent to the command. The \
      command continues without it until the daemon has that reader: wait, or stop the command, check tagroute \
      status, and run it again
      """
    exitCode = Names.ExitCode.tryAgain
  }

  /// Whether another client has a reader in this state.
  static func isTaken(_ state: String) -> Bool { ["released", "in-session"].contains(state) }

  /// The exit code after a command that ended without the reader. If the command failed, it is the code of the loss. A
  /// success, or an end by a signal (128 plus its number), is kept.
  func exitCode(of code: Int32) -> Int32 { (1...128).contains(code) ? exitCode : code }
}
