import Bus
import Names

extension Failure {
  /// What a failed call means for a person, and for a script.
  ///
  /// - Parameters:
  ///   - error: what the bus said.
  ///   - service: `daemon` or `agent`.
  init(_ error: BusError, from service: Service) {
    switch error.name {
    case BusError.Name.serviceUnknown, BusError.Name.nameHasNoOwner:
      self.init(
        message: "the \(service.rawValue) does not run: start \(service.program)",
        exitCode: Names.ExitCode.unavailable)
    case BusError.Name.noReply, BusError.Name.timeout, BusError.Name.disconnected:
      self.init(message: "the \(service.rawValue): \(error.message)", exitCode: Names.ExitCode.unavailable)
    case BusError.Name.accessDenied, Names.Errors.notAuthorized:
      self.init(message: "the \(service.rawValue): \(error.message)", exitCode: Names.ExitCode.notAllowed)
    case Names.Errors.tooMany, Names.Errors.notPossible:
      self.init(message: "the \(service.rawValue): \(error.message)", exitCode: Names.ExitCode.tryAgain)
    case Names.Errors.noSuchTap:
      self.init(message: "\(error.message); tagroute inbox lists those there are", exitCode: Names.ExitCode.noInput)
    case Names.Errors.invalidArgument, BusError.Name.invalidArguments:
      self.init(message: error.message, exitCode: Names.ExitCode.usage)
    default:
      self.init(message: "the \(service.rawValue): \(error.message)", exitCode: Names.ExitCode.failure)
    }
  }

  /// Connects, where any failure means that there is no bus.
  static func connecting<Client>(
    to service: Service, _ connect: () async throws(BusError) -> Client
  ) async throws(Failure) -> Client {
    do throws(BusError) {
      return try await connect()
    } catch {
      throw Failure(
        message: "cannot reach the \(service.bus) bus: \(error.message)", exitCode: Names.ExitCode.unavailable)
    }
  }

  enum Service: String {
    case daemon
    case agent

    var bus: String { self == .daemon ? "system" : "session" }
    var program: String { self == .daemon ? "tagrouted" : "tagroute-agent" }
  }
}
