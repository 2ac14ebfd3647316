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
  /// Readers whose devices are closed, and for whom.
  private var releases: [Int: UInt64] = [:]
  /// Where these devices are plugged in, by the inhibitors.
  private var places: [UInt64: String] = [:]
  private var lastID: UInt64 = 0

  /// The users who hold one.
  var users: Set<UInt32> { Set(inhibitors.map(\.uid)) }

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
  mutating func remove(_ id: UInt64) {
    inhibitors.removeAll { $0.id == id }
    releases = releases.filter { $0.value != id }
    places[id] = nil
  }

  /// A reader's device is closed for as long as an inhibitor is held.
  ///
  /// - Parameters:
  ///   - reader: its number.
  ///   - place: the path of its device; nil where udev knows none.
  ///   - id: the inhibitor's number.
  mutating func release(_ reader: Int, at place: String?, with id: UInt64) {
    releases = releases.filter { $0.value != id }
    releases[reader] = id
    places[id] = place
  }

  /// A reader is gone. What is plugged in there next is lent as it was: one that its program has reset was away for a moment.
  mutating func forget(_ reader: Int) { releases[reader] = nil }

  /// The inhibitor for which the device at a path is closed, also where it was away and is another reader now.
  func inhibitor(releasingDeviceAt place: String) -> Inhibitor? {
    inhibitors.first { places[$0.id] == place }
  }

  /// The reader whose device is closed for an inhibitor; nil where there is none.
  func reader(releasedBy id: UInt64) -> Int? { releases.first { $0.value == id }?.key }

  /// The inhibitor for which a reader's device is closed; nil where there is none.
  func inhibitor(releasing reader: Int) -> Inhibitor? {
    releases[reader].flatMap { id in inhibitors.first { $0.id == id } }
  }

  private func check(_ text: String, _ name: String, _ limit: Int) throws(Refusal) {
    if let problem = PlainText.problem(text, name, 1...limit) { throw .invalid(problem) }
  }
}
