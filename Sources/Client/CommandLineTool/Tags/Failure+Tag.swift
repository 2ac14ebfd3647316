import Bus
import Names
import TagrouteClient

extension Failure {
  init(tag error: BusError) {
    guard let failure = TagFailure(error) else {
      switch error.name {
      // The daemon ended during the operation. It usually restarts, so a retry may work.
      case BusError.Name.noReply, BusError.Name.nameHasNoOwner, BusError.Name.serviceUnknown,
        BusError.Name.disconnected:
        self.init(message: Self.endedWhileWorking, exitCode: Names.ExitCode.tryAgain)
      default: self.init(error, from: .daemon)
      }
      return
    }
    let code =
      switch failure {
      case .tagLost, .timedOut, .busy, .sessionEnded: Names.ExitCode.tryAgain
      case .readOnly, .refused, .notAuthorized: Names.ExitCode.notAllowed
      case .readerLost: Names.ExitCode.unavailable
      case .noMessage, .tooLong, .notSupported, .notFormatted, .notAsWritten, .cannotLock: Names.ExitCode.failure
      }
    let advice = failure == .notFormatted ? ". To format it and write on it: tagroute write --format" : ""
    self.init(message: "the tag: \(error.message)\(advice)", exitCode: code, sheet: SheetMessages.words(for: failure))
  }

  private static let endedWhileWorking =
    "the daemon ended while it worked on the tag. A tag that was being written may be empty now: try again"

  /// Describes a session that ended early, maybe during an operation on a tag.
  init(_ end: ReaderSessionEnd, whileWorking isWorking: Bool = false) {
    let (text, code) =
      switch end.reason {
      case .timedOut where isWorking:
        (
          "the time was up during the work on the tag. A tag that was being written may be empty now: try again",
          Names.ExitCode.tryAgain
        )
      case .timedOut: ("no tag came in time: try again", Names.ExitCode.tryAgain)
      case .cancelled: ("it was cancelled", Names.ExitCode.failure)
      case .readerLost: ("the reader is gone, or was given to another program", Names.ExitCode.unavailable)
      case .sessionInactive: ("your session is no longer active, or is locked", Names.ExitCode.notAllowed)
      case .sleeping: ("the machine is going to sleep", Names.ExitCode.tryAgain)
      case .daemonStopping where isWorking, .daemonGone where isWorking:
        (Self.endedWhileWorking, Names.ExitCode.tryAgain)
      case .daemonStopping, .daemonGone: ("the daemon stopped", Names.ExitCode.unavailable)
      case .invalidated, .firstRead: ("the session is over", Names.ExitCode.failure)
      }
    self.init(message: "the reader session ended: \(text)", exitCode: code)
  }
}

extension ReaderTag {
  /// Performs an operation on the tag. Its error becomes the command's failure.
  func attempt<Result>(
    _ body: (ReaderTag) async throws(BusError) -> Result
  ) async throws(Failure) -> Result {
    do throws(BusError) {
      return try await body(self)
    } catch {
      throw Failure(tag: error)
    }
  }
}
