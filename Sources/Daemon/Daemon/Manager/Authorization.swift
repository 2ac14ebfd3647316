import Bus
import Journal
import Names
import Presence

/// Asks polkit whether callers may do what they ask for.
@DaemonLoop final class Authorization {
  private let core: DaemonCore
  private var questions = AuthorizationQuestions()

  init(_ core: DaemonCore) { self.core = core }

  /// Asks polkit about an action (`Names.PolkitAction`) of the caller, and returns the caller's credentials. `attempt`
  /// ends the sentence "you may not …" of the error and the log.
  ///
  /// Throws `NotAuthorized` if polkit refuses or cannot be asked, `TooMany` if too many checks are in progress.
  func authorize(_ call: IncomingCall, _ action: String, to attempt: String) async throws -> PeerCredentials {
    guard let connection = core.connection else { throw BusError.disconnected() }
    let credentials = try await connection.credentials(of: call.sender)
    guard questions.begin(call.sender, of: credentials.uid) else {
      throw BusError.tooMany("polkit has not answered your previous calls yet: try again later")
    }
    let decision = await PolkitAuthority(connection).check(call.sender, action)
    questions.end(call.sender)
    let uid = credentials.uid
    let (reason, remedy): (String, String)
    switch decision {
    case .allowed: return credentials
    case .refused(let why):
      // For example, an administrator over ssh.
      let mayBeRoot = uid != 0 && core.state.seats.isUnattended(Seats.defaultSeat)
      (reason, remedy) = (why, mayBeRoot ? ". No user is logged in at the machine, so root may: use sudo" : "")
    case .unavailable(let why): (reason, remedy) = (why, "")
    }
    core.log(.notice, ofUser: uid, "\(call.sender) of user \(uid) may not \(attempt): \(reason)")
    throw BusError.notAuthorized("you may not \(attempt): \(reason)\(remedy)")
  }
}

/// Bounds the polkit checks in progress, because any local process can cause checks without end.
///
/// Pure. Each caller may have one check in progress, each user 32, and all users together 128.
struct AuthorizationQuestions: Sendable {
  static let limitOfUser = 32
  static let limit = 128

  private var users: [String: UInt32] = [:]

  /// Whether polkit may be asked. If so, call `end` after its answer.
  mutating func begin(_ sender: String, of uid: UInt32) -> Bool {
    guard users[sender] == nil, users.count < Self.limit,
      users.values.count(where: { $0 == uid }) < Self.limitOfUser
    else { return false }
    users[sender] = uid
    return true
  }

  mutating func end(_ sender: String) { users[sender] = nil }
}

extension BusError {
  static func invalidArgument(_ message: String) -> BusError {
    BusError(name: Names.Errors.invalidArgument, message: message)
  }

  static func notPossible(_ message: String) -> BusError { BusError(name: Names.Errors.notPossible, message: message) }

  static func cannotRead(_ technologies: [TagType]) -> BusError {
    let reason = "the reader cannot read \(technologies.map(\.rawValue).joined(separator: ", "))"
    guard technologies.contains(.type5) else { return .notPossible(reason) }
    return .notPossible("\(reason). Only some readers that pcscd drives support ISO/IEC 15693 (type-5)")
  }

  static func notAuthorized(_ message: String) -> BusError {
    BusError(name: Names.Errors.notAuthorized, message: message)
  }

  static func tooMany(_ message: String) -> BusError { BusError(name: Names.Errors.tooMany, message: message) }
}
