/// Who keeps the daemon from scanning.
struct InhibitorList: Sendable {
  struct Inhibitor: Hashable, Sendable {
    /// Ours, to tell one from another.
    let id: UInt64
    let who: String
    let why: String
    let uid: UInt32
    /// For display; 0 where the bus does not know it.
    let pid: UInt32
  }

  /// Why an inhibitor was not taken.
  enum Refusal: Error, Hashable {
    case invalid(String)
    case tooMany(String)
  }

  /// Of one user.
  static let limitOfUser = 16
  /// Of all users together: each holds a descriptor of ours.
  static let limit = 128
  static let maximumWho = 128
  static let maximumWhy = 256

  /// The oldest first.
  private(set) var inhibitors: [Inhibitor] = []
  private var lastID: UInt64 = 0

  /// Takes an inhibitor.
  mutating func add(who: String, why: String, uid: UInt32, pid: UInt32?) throws(Refusal) -> Inhibitor {
    try check(who, "who", Self.maximumWho)
    try check(why, "why", Self.maximumWhy)
    guard inhibitors.count(where: { $0.uid == uid }) < Self.limitOfUser else {
      throw .tooMany("user \(uid) holds \(Self.limitOfUser) inhibitors already: release one")
    }
    guard inhibitors.count < Self.limit else { throw .tooMany("\(Self.limit) inhibitors are held already") }
    lastID += 1
    let inhibitor = Inhibitor(id: lastID, who: who, why: why, uid: uid, pid: pid ?? 0)
    inhibitors.append(inhibitor)
    return inhibitor
  }

  /// Lets an inhibitor go; harmless where it is gone.
  mutating func remove(_ id: UInt64) { inhibitors.removeAll { $0.id == id } }

  private func check(_ text: String, _ name: String, _ limit: Int) throws(Refusal) {
    guard !text.isEmpty, text.utf8.count <= limit else {
      throw .invalid("\(name) has \(text.utf8.count) bytes: give 1 to \(limit)")
    }
    let isPlain = text.unicodeScalars.allSatisfy { scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator: false
      default: true
      }
    }
    guard isPlain else { throw .invalid("\(name) holds control characters: give plain text") }
  }
}
