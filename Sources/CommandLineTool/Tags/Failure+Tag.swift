import Bus
import Names
import TagrouteClient

extension Failure {
  /// What keeps something from being done with a tag.
  init(tag error: BusError) {
    guard let failure = TagFailure(error) else {
      switch error.name {
      // It has ended in the middle of this, and whoever restarts it restarts it for others too.
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
      case .noMessage, .tooLong, .notSupported, .notAsWritten, .cannotLock: Names.ExitCode.failure
      }
    self.init(message: "the tag: \(error.message)", exitCode: code, sheet: SheetMessages.words(for: failure))
  }

  private static let endedWhileWorking =
    "the daemon has ended before the tag was done with; one that was being written may hold no message now: try again"

  /// How a session ended that was to go on.
  ///
  /// - Parameters:
  ///   - end: its end.
  ///   - isWorking: whether something was being done with a tag.
  init(_ end: ReaderSessionEnd, whileWorking isWorking: Bool = false) {
    let (text, code) =
      switch end.reason {
      case .timedOut where isWorking:
        (
          "its time was up before the tag was done with; one that was being written may hold no message now: try again",
          Names.ExitCode.tryAgain
        )
      case .timedOut: ("no tag came in time: try again", Names.ExitCode.tryAgain)
      case .cancelled: ("it was cancelled", Names.ExitCode.failure)
      case .readerLost: ("the reader is gone, or was given to another program", Names.ExitCode.unavailable)
      case .sessionInactive: ("the session is no longer the active one, or is locked", Names.ExitCode.notAllowed)
      case .sleeping: ("the machine goes to sleep", Names.ExitCode.tryAgain)
      case .daemonStopping where isWorking, .daemonGone where isWorking:
        (Self.endedWhileWorking, Names.ExitCode.tryAgain)
      case .daemonStopping, .daemonGone: ("the daemon is gone", Names.ExitCode.unavailable)
      case .invalidated, .firstRead: ("the session is over", Names.ExitCode.failure)
      }
    self.init(message: "the reader session ended: \(text)", exitCode: code)
  }
}

extension ReaderTag {
  /// Does something with the tag whose failure is the command's.
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
