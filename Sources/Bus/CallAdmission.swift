/// Which of the calls that arrive are answered, so that one user's calls never keep another's from an answer.
///
/// Pure. A call is charged to the user behind its sender. The bus names that user once, after the first call of a sender; until
/// then all such senders share one allowance. A peer with precedence has an allowance of its own.
struct CallAdmission {
  /// Calls of one sender that may wait for an answer.
  static let limitOfSender = 100
  /// Calls of one user.
  static let limitOfUser = 200
  /// Calls of all senders whose user the bus has not named yet.
  static let limitOfStrangers = 512
  /// Calls of one such sender once half of these are used up: a user who connects again and again leaves room for other strangers.
  static let limitOfStranger = 8
  /// Calls of all users together. Peers with precedence are not counted.
  static let limit = 1024
  /// Senders whose users are remembered. The bus never uses a unique name twice, so an old answer stays right.
  static let memory = 1024

  enum Verdict: Equatable {
    /// - Parameter isToIdentify: whether the bus is to be asked for the sender's user.
    case answer(isToIdentify: Bool)
    case refuse
  }

  private enum Account: Hashable {
    case user(UInt32)
    case strangers
    case precedence(String)
  }

  /// The calls of each sender that wait for an answer, and who is charged.
  private var senders: [String: (count: Int, account: Account)] = [:]
  private var counts: [Account: Int] = [:]
  /// The users of senders, oldest first in `order`.
  private var users: [String: UInt32] = [:]
  private var order: [String] = []
  private var questions: Set<String> = []
  private var precedence: Set<String> = []

  var isEmpty: Bool { senders.isEmpty }

  func hasPrecedence(_ sender: String) -> Bool { precedence.contains(sender) }

  /// A call has arrived. If it is to be answered, `answered` is due once it has been.
  mutating func call(from sender: String) -> Verdict {
    let (count, account) = senders[sender] ?? (0, account(of: sender))
    let isScarce = account == .strangers && counts[.strangers, default: 0] >= Self.limitOfStrangers / 2
    let limit = isScarce ? Self.limitOfStranger : Self.limitOfSender
    guard count < limit, hasRoom(account) else { return .refuse }
    senders[sender] = (count + 1, account)
    counts[account, default: 0] += 1
    guard account == .strangers, questions.count < Self.limitOfStrangers else { return .answer(isToIdentify: false) }
    return .answer(isToIdentify: questions.insert(sender).inserted)
  }

  /// A call of this sender was answered.
  mutating func answered(_ sender: String) {
    guard let (count, account) = senders[sender] else { return }
    senders[sender] = count > 1 ? (count - 1, account) : nil
    charge(account, -1)
  }

  /// The bus has said who is behind a sender; nil if it does not know.
  mutating func identified(_ sender: String, as user: UInt32?) {
    questions.remove(sender)
    guard let user, users[sender] == nil else { return }
    if order.count >= Self.memory { users[order.removeFirst()] = nil }
    users[sender] = user
    order.append(sender)
    move(sender)
  }

  /// Gives these peers an allowance of their own, and takes it from those that had one.
  mutating func setPrecedence(_ peers: Set<String>) {
    let changed = precedence.symmetricDifference(peers)
    precedence = peers
    for sender in changed { move(sender) }
  }

  /// The bus is gone. The next one gives the same names to others.
  mutating func forgetUsers() {
    let senders = users.keys
    (users, order, questions) = ([:], [], [])
    for sender in senders { move(sender) }
  }

  private func account(of sender: String) -> Account {
    hasPrecedence(sender) ? .precedence(sender) : users[sender].map(Account.user) ?? .strangers
  }

  private func hasRoom(_ account: Account) -> Bool {
    let count = counts[account, default: 0]
    switch account {
    case .precedence: return true
    case .user: return count < Self.limitOfUser && charged < Self.limit
    case .strangers: return count < Self.limitOfStrangers && charged < Self.limit
    }
  }

  private var charged: Int {
    counts.reduce(0) { sum, entry in if case .precedence = entry.key { sum } else { sum + entry.value } }
  }

  private mutating func charge(_ account: Account, _ difference: Int) {
    let count = counts[account, default: 0] + difference
    counts[account] = count > 0 ? count : nil
  }

  private mutating func move(_ sender: String) {
    guard let (count, old) = senders[sender] else { return }
    let new = account(of: sender)
    senders[sender] = (count, new)
    charge(old, -count)
    charge(new, count)
  }
}
