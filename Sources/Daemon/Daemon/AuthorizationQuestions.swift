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
