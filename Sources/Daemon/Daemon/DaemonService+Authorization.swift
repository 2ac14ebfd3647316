import Bus
import Journal
import Names
import Presence

extension DaemonService {
  /// Asks polkit about an action (`Names.PolkitAction`) of the caller, and returns the caller's credentials. `attempt`
  /// ends the sentence "you may not …" of the error and the log.
  ///
  /// Throws `NotAuthorized` if polkit refuses or cannot be asked, `TooMany` if too many checks are in progress.
  func authorize(_ call: IncomingCall, _ action: String, to attempt: String) async throws -> PeerCredentials {
    guard let connection else { throw BusError.disconnected() }
    let credentials = try await connection.credentials(of: call.sender)
    guard questions.begin(call.sender, of: credentials.uid) else {
      throw BusError.tooMany("polkit has not answered your previous calls yet: try again later")
    }
    let decision = await PolkitAuthority(connection).check(call.sender, action)
    questions.end(call.sender)
    guard case .refused(let reason) = decision else { return credentials }
    let uid = credentials.uid
    log(.notice, ofUser: uid, "\(call.sender) of user \(uid) may not \(attempt): \(reason)")
    throw BusError.notAuthorized("you may not \(attempt): \(reason)")
  }
}
