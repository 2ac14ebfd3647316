/// Decides which incoming calls are answered, so that one user's calls never keep another user's calls from an answer.
///
/// Pure. A call is charged to the user behind its sender. The bus names that user once, after the sender's first call.
/// Before that, all unidentified senders share one allowance. A peer with precedence has its own allowance.
struct CallAdmission {
  /// The maximum number of unanswered calls of one sender.
  static let limitOfSender = 100
  /// The maximum number of unanswered calls of one user.
  static let limitOfUser = 200
  /// The maximum number of unanswered calls of all unidentified senders together.
  static let limitOfStrangers = 512
  /// The maximum number of unanswered calls of one unidentified sender once half of these are used up. A user who
  /// connects again and again leaves room for others.
  static let limitOfStranger = 8
  /// The maximum number of unanswered calls of all users together, without peers with precedence.
  static let limit = 1024
  /// The number of senders with remembered users. The bus never reuses a unique name, so an old entry stays valid.
  static let memory = 1024

  enum Verdict: Equatable {
    /// `isToIdentify`: whether to ask the bus for the sender's user.
    case answer(isToIdentify: Bool)
    case refuse
  }

  private enum Account: Hashable {
    case user(UInt32)
    case strangers
    case precedence(String)
  }

  /// The number of unanswered calls of each sender, and the account that is charged for them.
  private var senders: [String: (count: Int, account: Account)] = [:]
  private var counts: [Account: Int] = [:]
  /// The users of senders. `order` has the senders, oldest first.
  private var users: [String: UInt32] = [:]
  private var order: [String] = []
  private var questions: Set<String> = []
  private var precedence: Set<String> = []

  var isEmpty: Bool { senders.isEmpty }

  func hasPrecedence(_ sender: String) -> Bool { precedence.contains(sender) }

  /// Decides about a call that has arrived. If the verdict is `answer`, call `answered` after the call was answered.
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

  /// Records that a call of this sender was answered.
  mutating func answered(_ sender: String) {
    guard let (count, account) = senders[sender] else { return }
    senders[sender] = count > 1 ? (count - 1, account) : nil
    charge(account, -1)
  }

  /// Records the user behind a sender, or nil if the bus does not know it.
  mutating func identified(_ sender: String, as user: UInt32?) {
    questions.remove(sender)
    guard let user, users[sender] == nil else { return }
    if order.count >= Self.memory { users[order.removeFirst()] = nil }
    users[sender] = user
    order.append(sender)
    move(sender)
  }

  /// Gives these peers their own allowance, and removes it from all others.
  mutating func setPrecedence(_ peers: Set<String>) {
    let changed = precedence.symmetricDifference(peers)
    precedence = peers
    for sender in changed { move(sender) }
  }

  /// Forgets all users because the bus is gone. The next bus gives the same names to other peers.
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
