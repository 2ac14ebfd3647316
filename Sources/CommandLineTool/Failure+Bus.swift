import Bus
import Names

extension Failure {
  /// What a failed call means for a person, and for a script.
  ///
  /// - Parameters:
  ///   - error: what the bus said.
  ///   - service: which of our programs was called.
  init(_ error: BusError, from service: RunningProgram) {
    switch error.name {
    case BusError.Name.serviceUnknown, BusError.Name.nameHasNoOwner:
      self.init(
        message: "the \(service.role) does not run: \(Setup.current.starting(service).text)",
        exitCode: Names.ExitCode.unavailable)
    case _ where error.isUnanswered:
      self.init(message: "the \(service.role): \(error.message)", exitCode: Names.ExitCode.unavailable)
    // Of another version: what is in all versions is never taken away.
    case BusError.Name.unknownMethod, BusError.Name.unknownInterface, BusError.Name.unknownProperty:
      self.init(
        message: "\(service.program) is of another version than this one, \(Names.version), and does not know how "
          + "(\(error.message)): \(Setup.current.restarting(service).text)",
        exitCode: Names.ExitCode.unavailable)
    case BusError.Name.notSupported:
      self.init(message: "the \(service.role): \(error.message)", exitCode: Names.ExitCode.unavailable)
    case BusError.Name.accessDenied, Names.Errors.notAuthorized:
      self.init(message: "the \(service.role): \(error.message)", exitCode: Names.ExitCode.notAllowed)
    case Names.Errors.tooMany, Names.Errors.notPossible:
      self.init(message: "the \(service.role): \(error.message)", exitCode: Names.ExitCode.tryAgain)
    case Names.Errors.noSuchTap:
      self.init(message: "\(error.message); tagroute inbox lists those there are", exitCode: Names.ExitCode.noInput)
    case Names.Errors.invalidArgument, BusError.Name.invalidArguments:
      self.init(message: error.message, exitCode: Names.ExitCode.usage)
    default:
      self.init(message: "the \(service.role): \(error.message)", exitCode: Names.ExitCode.failure)
    }
  }

  /// Connects, where any failure means that there is no bus.
  static func connecting<Client>(
    to service: RunningProgram, _ connect: () async throws(BusError) -> Client
  ) async throws(Failure) -> Client {
    do throws(BusError) {
      return try await connect()
    } catch {
      throw Failure(
        message: "cannot reach the \(service.owner == .system ? "system" : "session") bus: \(error.message)",
        exitCode: Names.ExitCode.unavailable)
    }
  }
}

extension BusError {
  /// Whether a program that is on the bus has not answered: it ended, took too long, or the bus went away.
  var isUnanswered: Bool { [Name.noReply, Name.timeout, Name.disconnected].contains(name) }
}

extension RunningProgram {
  /// What it is called in a sentence.
  fileprivate var role: String { self == .daemon ? "daemon" : "agent" }
}
