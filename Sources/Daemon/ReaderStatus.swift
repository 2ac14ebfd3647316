import Bus
import ReaderLink
import ScanGate

/// One reader as the daemon knows it.
struct ReaderStatus: Sendable {
  /// What clients see of it.
  struct Properties: Hashable, Sendable {
    var name = ""
    let device: String
    var seat: String
    var state = "absent"
    /// Why it is absent or has failed; empty otherwise.
    var stateReason = ""
    var technologies: [String]
    var counters = Counters()
  }

  /// Since the daemon started.
  struct Counters: Hashable, Sendable {
    var placements: UInt64 = 0
    var messages: UInt64 = 0
    var problems: UInt64 = 0
    var restarts: UInt64 = 0
  }

  /// Where it is on the bus.
  let path: ObjectPath
  var properties: Properties
  /// What its process does, as it has said.
  private(set) var phase = ReaderPhase.absent(reason: "")
  /// What it should be doing. The epoch grows by one with each other goal.
  private(set) var goal = ReaderGoal.off
  private(set) var epoch: UInt64 = 0
  /// The epoch that its process has reached; nil if it has reached none.
  private(set) var reached: UInt64?
  /// The first epoch whose tags are given to `audience`; nil while no tags are wanted.
  private var scansSince: UInt64?
  /// Whose tags it looks for.
  private var audience: SessionKey?
  /// The field was on when the process spoke last, or when its device failed.
  private var isFieldOn = false
  /// Its device is not plugged in, and udev will tell when it is.
  var isAway = false
  /// The reader session that is to have it.
  var session: ReaderSessionOptions?
  /// The reader session that had it, until its process has reached another goal.
  var endingSession: UInt64?
  /// Its device is to be closed for another program.
  var isReleased = false
  var verdict: ScanVerdict
  /// What its process says in its own words.
  var processLines = LineBudget(most: 60)
  /// How its state changes; a device that comes and goes does so less often.
  var changeLines = LineBudget(most: 60)
  /// Whether it scans, and for whom its device is closed: users change that as often as they like.
  var verdictLines = LineBudget(most: 60)
  /// What comes of tags: nobody taps ten a second for a minute.
  var tagLines = LineBudget(most: 600)

  init(path: ObjectPath, device: String, seat: String, technologies: [String], policy: ScanPolicy) {
    self.path = path
    properties = Properties(device: device, seat: seat, technologies: technologies)
    verdict = ScanVerdict(ScanConditions(), policy: policy)
  }

  /// What a log line calls it.
  var label: String {
    // libnfc calls a device on a serial line by its connection string.
    let isNamed = !properties.name.isEmpty && properties.name != properties.device
    return isNamed ? "\(properties.name) (\(properties.device))" : properties.device
  }

  /// Whether the device can be used: it is open, or another program has it.
  var isReady: Bool { phase.isOpen || phase == .released }

  /// Whether the device is closed for another program, as it was wanted last.
  var isLent: Bool { phase == .released && goal == .lent && reached == epoch }

  /// Whether the field may be on: only a process that has reached a goal without a field has switched it off for sure.
  var mayFieldBeOn: Bool { isFieldOn || goal.usesField || reached != epoch }

  /// Whether a tag that was read for the goal of an epoch is for whoever it looks for now.
  ///
  /// A scan with another polling is the same scan. Any other goal in between ends it, also one that was taken back at
  /// once.
  func accepts(_ epoch: UInt64) -> Bool { scansSince.map { epoch >= $0 } ?? false }

  /// Takes in what it should be doing, and for whom.
  ///
  /// - Returns: the goals that its process is told of, with their epochs. Between two users is `off`, so that no tag
  /// of the one is the
  ///   other's.
  mutating func pursue(_ new: ReaderGoal, for owner: SessionKey?) -> [(epoch: UInt64, goal: ReaderGoal)] {
    var steps = [new]
    if case .scan = goal, case .scan = new, owner != audience { steps = [.off, new] }
    var orders: [(epoch: UInt64, goal: ReaderGoal)] = []
    for step in steps where step != goal {
      if let ended = goal.session { endingSession = ended.number }
      goal = step
      epoch += 1
      if case .scan = step { scansSince = scansSince ?? epoch } else { scansSince = nil }
      orders.append((epoch, step))
    }
    audience = owner
    showState()
    return orders
  }

  /// Takes in what its process does.
  mutating func update(_ phase: ReaderPhase, reached: UInt64?) {
    (self.phase, self.reached) = (phase, reached)
    properties.stateReason = ""
    switch phase {
    case .absent(let reason), .failed(let reason): properties.stateReason = reason
    case .ready(let name, _): properties.name = name
    case .opening, .scanning, .inSession, .released: break
    }
    switch phase {
    case .scanning, .inSession: isFieldOn = true
    // Opening it resets the device; one that is away has no power.
    case .absent, .ready, .released: isFieldOn = false
    case .opening, .failed: break
    }
    showState()
  }

  /// It has no process, or none that is listened to any more: there is no one to reach a goal.
  mutating func hasNoProcess() {
    reached = epoch
    isFieldOn = false
    (session, endingSession) = (nil, nil)
  }

  private mutating func showState() {
    switch phase {
    case .opening: break
    case .absent: properties.state = "absent"
    case .failed: properties.state = "failed"
    case .ready, .scanning, .inSession, .released:
      let isInSession = goal.session.map { phase == .inSession($0.number) } ?? false
      properties.state =
        goal == .lent ? "released" : isInSession ? "in-session" : phase == .scanning ? "scanning" : "ready"
    }
  }
}
