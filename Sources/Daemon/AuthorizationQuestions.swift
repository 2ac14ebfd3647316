/// Which questions about a caller's rights are put to polkit: anybody on the bus can ask for one after the other.
///
/// Pure. A caller waits for its own answer before it may ask again, a user has 32 questions at a time at most, as
/// many as sessions may wait, all users together 128: so nobody keeps another user from being asked about.
struct AuthorizationQuestions: Sendable {
  static let limitOfUser = 32
  static let limit = 128

  private var users: [String: UInt32] = [:]

  /// Takes a question in.
  ///
  /// - Returns: whether it may be put; then `end` is due once it is answered.
  mutating func begin(_ sender: String, of uid: UInt32) -> Bool {
    guard users[sender] == nil, users.count < Self.limit,
      users.values.count(where: { $0 == uid }) < Self.limitOfUser
    else { return false }
    users[sender] = uid
    return true
  }

  /// The question about a caller is answered.
  mutating func end(_ sender: String) { users[sender] = nil }
}
