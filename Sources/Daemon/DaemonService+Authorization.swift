import Bus
import Journal
import Names
import Session

extension DaemonService {
  /// Lets a call pass that polkit allows, and no other.
  ///
  /// - Parameters:
  ///   - call: the call.
  ///   - action: what polkit is asked for, one of `Names.PolkitAction`.
  ///   - attempt: what the caller wants to do, as the end of "may not …", for the log.
  /// - Returns: who is behind the call.
  /// - Throws: `NotAuthorized` where polkit says no, or cannot be asked; `TooMany` where too much is being asked.
  func authorize(_ call: IncomingCall, _ action: String, to attempt: String) async throws -> PeerCredentials {
    guard let connection else { throw BusError.disconnected() }
    let credentials = try await connection.credentials(of: call.sender)
    guard questions.begin(call.sender, of: credentials.uid) else {
      throw BusError(name: Names.Errors.tooMany, message: "polkit is still being asked about you: try again later")
    }
    let decision = await PolkitAuthority(connection).check(call.sender, action)
    questions.end(call.sender)
    guard case .refused(let reason) = decision else { return credentials }
    let uid = credentials.uid
    log(.notice, ofUser: uid, "\(call.sender) of user \(uid) may not \(attempt): \(reason)")
    throw BusError(name: Names.Errors.notAuthorized, message: "you may not \(attempt): \(reason)")
  }
}
