import Bus
import Names
import Presence
import ReaderProtocol
import Settings

struct RosterReader: Sendable {
  struct Properties: Hashable, Sendable {
    var name = ""
    let device: String
    var seat: String
    var state = "absent"
    /// The reason if it is absent or has failed. In another state, the program that it waits for. Otherwise empty.
    var stateReason = ""
    var technologies: [TagType]
    var counters = Counters()

    var values: [String: Value] {
      let counts = [
        ("messages", counters.messages), ("placements", counters.placements), ("problems", counters.problems),
        ("restarts", counters.restarts),
      ]
      return [
        "Name": .string(name), "Device": .string(device), "Seat": .string(seat), "State": .string(state),
        "StateReason": .string(stateReason), "Technologies": .strings(technologies.map(\.rawValue)),
        "Counters": .dictionary(key: "s", value: "t", counts.map { DictionaryEntry(.string($0.0), .uint64($0.1)) }),
      ]
    }
  }

  /// Since the daemon started.
  struct Counters: Hashable, Sendable {
    var placements: UInt64 = 0
    var messages: UInt64 = 0
    var problems: UInt64 = 0
    var restarts: UInt64 = 0
  }

  let path: ObjectPath
  /// Of the reader's model.
  private let possible: [TagType]
  var properties: Properties
  private(set) var phase = ReaderPhase.absent(reason: "")
  /// What the reader should be doing. Each change of the goal increases the epoch by one.
  private(set) var goal = ReaderGoal.off
  private(set) var epoch: UInt64 = 0
  /// Nil if the process has reached none.
  private(set) var reached: UInt64?
  /// Nil if the goal is not to scan. Tags of earlier epochs belong to no session.
  private var scansSince: UInt64?
  /// The session that gets the tags.
  private var audience: LoginSessionKey?
  /// Whether the field was on in the last phase that shows it. `opening` and `failed` do not show it.
  private var isFieldOn = false
  /// Why it waits for another program although its device is open; empty if it does not wait.
  private(set) var waitReason = ""
  /// The device is unplugged, and udev will report its return.
  var isAway = false
  /// The reader session that should have the reader.
  var session: TagSessionOptions?
  /// Set until the process has reached a later goal.
  var endingSession: UInt64?
  /// The reader is lent: the process should close its device for another program.
  var isReleased = false
  var verdict: ScanVerdict
  /// Of lines that the process sends.
  var processLines = LineBudget(most: 60)
  /// Of lines about its state. A device that is plugged in again and again causes fewer.
  var changeLines = LineBudget(most: 60)
  /// Of lines about scanning and loans, which users can change without limit.
  var verdictLines = LineBudget(most: 60)
  /// Of lines about tags. A person does not tap ten times a second for a minute.
  var tagLines = LineBudget(most: 600)

  init(
    path: ObjectPath, device: String, seat: String, identity: PCSCReader.Identity? = nil, technologies: [TagType],
    policy: ScanPolicy
  ) {
    self.path = path
    possible = ContactlessReaders.technologies(of: device, identity)
    properties = Properties(device: device, seat: seat, technologies: technologies.filter(possible.contains))
    verdict = ScanVerdict(ScanConditions(), policy: policy)
  }

  func technologies(among wanted: [TagType]) -> [TagType] { wanted.filter(possible.contains) }

  /// Also true if the configuration excludes these kinds.
  func canRead(some technologies: [TagType]) -> Bool { !self.technologies(among: technologies).isEmpty }

  /// For the log.
  var label: String {
    // For a device on a serial line, libnfc uses the connection string as the name.
    let isNamed = !properties.name.isEmpty && properties.name != properties.device
    return isNamed ? "\(properties.name) (\(properties.device))" : properties.device
  }

  /// Whether the device can be used: it is open, or another program has it.
  var isReady: Bool { phase.isOpen || phase == .released }

  /// Whether the process has closed the device for another program, as the present goal demands.
  var isLent: Bool { phase == .released && goal == .lent && reached == epoch }

  /// Whether the field may be on. It is certainly off only if the process has reached a goal without a field.
  var mayFieldBeOn: Bool { isFieldOn || goal.usesField || reached != epoch }

  /// Whether it scans although its goal is another one, or may still begin to, because it has not received that goal.
  var isStopping: Bool { !goal.isScan && (phase == .scanning || goal == .off && mayFieldBeOn) }

  /// Whether a tag that was read for the goal of an epoch belongs to `audience`.
  ///
  /// A scan with other polling options continues the same scan. Any other goal in between ends it, even a goal that was
  /// replaced at once.
  func accepts(_ epoch: UInt64) -> Bool { scansSince.map { epoch >= $0 } ?? false }

  /// Sets the goal, and the session that gets the tags. Returns the goals to send to the process, with their epochs.
  ///
  /// Between scans for two sessions, the first goal is `off`, so that neither session gets a tag that was read for the
  /// other.
  mutating func pursue(_ new: ReaderGoal, for owner: LoginSessionKey?) -> [(epoch: UInt64, goal: ReaderGoal)] {
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

  mutating func update(_ phase: ReaderPhase, reached: UInt64?) {
    (self.phase, self.reached) = (phase, reached)
    if !phase.isOpen { waitReason = "" }
    properties.stateReason = waitReason
    switch phase {
    case .absent(let reason), .failed(let reason): properties.stateReason = reason
    case .ready(let name, _): properties.name = name
    case .opening, .scanning, .inSession, .released: break
    }
    switch phase {
    case .scanning, .inSession: isFieldOn = true
    // Opening a device resets it, and an absent device has no power.
    case .absent, .ready, .released: isFieldOn = false
    case .opening, .failed: break
    }
    showState()
  }

  /// Empty if the open reader no longer waits for another program.
  mutating func wait(_ reason: String) {
    (waitReason, properties.stateReason) = (reason, reason)
  }

  /// The reader has no process, or the daemon ignores it. So no goal is left to reach.
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
