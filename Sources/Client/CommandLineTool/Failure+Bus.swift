import Bus
import EventLoop
import Names
import TagrouteClient

extension Failure {
  init(_ error: BusError, from service: RunningProgram) {
    switch error.name {
    case BusError.Name.serviceUnknown, BusError.Name.nameHasNoOwner:
      self.init(
        message: "the \(service.role) is not running: \(Setup.current.starting(service).text)",
        exitCode: Names.ExitCode.unavailable)
    case _ where error.isUnanswered:
      self.init(message: "the \(service.role): \(error.message)", exitCode: Names.ExitCode.unavailable)
    // The program has another version. Members of the first version are never removed.
    case BusError.Name.unknownMethod, BusError.Name.unknownInterface, BusError.Name.unknownProperty:
      self.init(
        message: "\(service.program) has another version than this tagroute (\(Names.version)) and does not support "
          + "this (\(error.message)): \(Setup.current.restarting(service).text)",
        exitCode: Names.ExitCode.unavailable)
    case BusError.Name.notSupported:
      self.init(message: "the \(service.role): \(error.message)", exitCode: Names.ExitCode.unavailable)
    case BusError.Name.accessDenied, Names.Errors.notAuthorized:
      self.init(message: "the \(service.role): \(error.message)", exitCode: Names.ExitCode.notAllowed)
    case Names.Errors.tooMany, Names.Errors.notPossible:
      self.init(message: "the \(service.role): \(error.message)", exitCode: Names.ExitCode.tryAgain)
    case Names.Errors.noSuchTap:
      self.init(message: "\(error.message); tagroute inbox lists the taps", exitCode: Names.ExitCode.noInput)
    case Names.Errors.invalidArgument, BusError.Name.invalidArguments:
      self.init(message: error.message, exitCode: Names.ExitCode.usage)
    default:
      self.init(message: "the \(service.role): \(error.message)", exitCode: Names.ExitCode.failure)
    }
  }

  /// Calls a program. Its error becomes the command's failure.
  static func asking<Result>(
    _ service: RunningProgram, _ body: () async throws(BusError) -> Result
  ) async throws(Failure) -> Result {
    do throws(BusError) {
      return try await body()
    } catch {
      throw Failure(error, from: service)
    }
  }

  /// Connects. Any error means that there is no bus.
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

extension AgentClient {
  /// Connects to the agent of this session.
  static func own() async throws(Failure) -> AgentClient {
    try await Failure.connecting(to: .agent) { () async throws(BusError) in
      try await AgentClient.connect(on: EventLoop(label: "tagroute"))
    }
  }
}

extension DaemonClient {
  /// Connects to the daemon of this machine.
  static func own(on loop: EventLoop = EventLoop(label: "tagroute")) async throws(Failure) -> DaemonClient {
    try await Failure.connecting(to: .daemon) { () async throws(BusError) in
      try await DaemonClient.connect(on: loop)
    }
  }
}

extension BusError {
  /// Whether a program did not reply: it ended, took too long, or the bus connection was lost.
  var isUnanswered: Bool { [Name.noReply, Name.timeout, Name.disconnected].contains(name) }
}

extension RunningProgram {
  fileprivate var role: String {
    switch self {
    case .daemon: "daemon"
    case .agent: "agent"
    case .mqtt: rawValue
    }
  }
}
