package import Bus

/// Asks polkit whether the owner of a bus name may do something (org.freedesktop.PolicyKit1.Authority).
///
/// Fails closed: without polkit, without a reply, or with a malformed reply, the decision is no.
package struct PolkitAuthority: Sendable {
  package enum Decision: Sendable, Hashable {
    case allowed
    case refused(reason: String)
    /// polkit did not decide, so nobody is allowed.
    case unavailable(reason: String)
  }

  private let connection: Connection

  /// `connection` is to the system bus.
  package init(_ connection: Connection) {
    self.connection = connection
  }

  /// Asks about the program with the unique bus name `sender`. Decides within five seconds, because polkit does not ask
  /// for a password.
  package func check(_ sender: String, _ action: String) async -> Decision {
    let subject = Value.structure([.string("system-bus-name"), .dictionary(["name": .string(sender)])])
    let details = Value.dictionary(key: "s", value: "s", [])
    do throws(BusError) {
      let reply = try await connection.call(
        "org.freedesktop.PolicyKit1", "/org/freedesktop/PolicyKit1/Authority", "org.freedesktop.PolicyKit1.Authority",
        "CheckAuthorization", [subject, .string(action), details, .uint32(0), .string("")], timeout: .seconds(5))
      guard let result = reply.first?.asStructure, let isAuthorized = result.first?.asBool else {
        return .unavailable(reason: "polkit gave an answer that is none")
      }
      return isAuthorized ? .allowed : .refused(reason: "polkit does not allow \(action)")
    } catch {
      return .unavailable(reason: "polkit could not be asked about \(action): \(error.message)")
    }
  }
}
