public import Bus

/// Asks polkit whether the owner of a bus name may do something (org.freedesktop.PolicyKit1.Authority).
///
/// Fails closed: no polkit, no answer, an answer that is none of ours to understand: no.
public struct PolkitAuthority: Sendable {
  /// What polkit said, and what to tell the caller.
  public enum Decision: Sendable, Hashable {
    /// It may.
    case allowed
    /// It may not, and why.
    case refused(reason: String)
  }

  private let connection: Connection

  /// - Parameter connection: to the system bus.
  public init(_ connection: Connection) {
    self.connection = connection
  }

  /// Asks for one action.
  ///
  /// - Parameters:
  ///   - sender: the unique bus name of who wants it.
  ///   - action: the action's id.
  /// - Returns: the decision, within five seconds. Nobody is asked for a password.
  public func check(_ sender: String, _ action: String) async -> Decision {
    let subject = Value.structure([.string("system-bus-name"), .dictionary(["name": .string(sender)])])
    let details = Value.dictionary(key: "s", value: "s", [])
    do throws(BusError) {
      let reply = try await connection.call(
        "org.freedesktop.PolicyKit1", "/org/freedesktop/PolicyKit1/Authority", "org.freedesktop.PolicyKit1.Authority",
        "CheckAuthorization", [subject, .string(action), details, .uint32(0), .string("")], timeout: .seconds(5))
      guard let result = reply.first?.asStructure, let isAuthorized = result.first?.asBool else {
        return .refused(reason: "polkit gave an answer that is none")
      }
      return isAuthorized ? .allowed : .refused(reason: "polkit does not allow \(action)")
    } catch {
      return .refused(reason: "polkit could not be asked about \(action): \(error.message)")
    }
  }
}
