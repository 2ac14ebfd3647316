import Bus

/// The callers that keep the daemon from scanning.
struct InhibitorList: Sendable {
  struct Inhibitor: Hashable, Sendable {
    let id: UInt64
    let who: String
    let why: String
    let uid: UInt32
    /// For display; 0 if the bus does not know it.
    let pid: UInt32
    /// The reader that is lent to the caller; nil if there is none, or if it was unplugged.
    var reader: Int?
    /// The path of that reader's device; nil if udev knows none.
    var place: String?
  }

  static let limitOfUser = 16
  /// For all users. The daemon keeps a descriptor open for each inhibitor.
  static let limit = 128
  static let maximumWho = 128
  static let maximumWhy = 256

  /// Oldest first.
  private(set) var inhibitors: [Inhibitor] = []
  private var lastID: UInt64 = 0

  var users: Set<UInt32> { Set(inhibitors.map(\.uid)) }

  mutating func add(who: String, why: String, uid: UInt32, pid: UInt32?) throws(BusError) -> Inhibitor {
    for (text, name, limit) in [(who, "who", Self.maximumWho), (why, "why", Self.maximumWhy)] {
      if let problem = PlainText.problem(text, name, 1...limit) { throw .invalidArgument(problem) }
    }
    guard inhibitors.count(where: { $0.uid == uid }) < Self.limitOfUser else {
      throw .tooMany("user \(uid) already has \(Self.limitOfUser) inhibitors: release one")
    }
    guard inhibitors.count < Self.limit else { throw .tooMany("there are already \(Self.limit) inhibitors") }
    lastID += 1
    let inhibitor = Inhibitor(id: lastID, who: who, why: why, uid: uid, pid: pid ?? 0)
    inhibitors.append(inhibitor)
    return inhibitor
  }

  /// Returns the reader that was lent to the inhibitor. Has no effect if the inhibitor does not exist.
  @discardableResult
  mutating func remove(_ id: UInt64) -> Int? {
    inhibitors.firstIndex { $0.id == id }.flatMap { inhibitors.remove(at: $0).reader }
  }

  /// Lends a reader to an inhibitor. The place is the path of its device; nil if udev knows none.
  mutating func release(_ reader: Int, at place: String?, with id: UInt64) {
    guard let index = inhibitors.firstIndex(where: { $0.id == id }) else { return }
    inhibitors[index].reader = reader
    inhibitors[index].place = place
  }

  /// Forgets a reader that is gone. The next reader at its place is lent as well: a program that resets a reader makes
  /// it disappear for a moment.
  mutating func forget(_ reader: Int) {
    for index in inhibitors.indices where inhibitors[index].reader == reader { inhibitors[index].reader = nil }
  }

  /// The reader there may have been replugged since.
  func inhibitor(releasingDeviceAt place: String) -> Inhibitor? { inhibitors.first { $0.place == place } }

  func inhibitor(releasing reader: Int) -> Inhibitor? { inhibitors.first { $0.reader == reader } }
}
