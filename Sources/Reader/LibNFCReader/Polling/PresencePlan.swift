import Names
import PN53x
import ReaderKit
import Tags

/// The next step while tags rest: check one tag, look for all tags, switch the field off, or pause.
///
/// The field stays on, so that a tag keeps its random identifier. A single tag is checked with one command. Several
/// tags need a new look each time, because a chip keeps at most two of one technology. The field is off once before a
/// tag is considered gone, because only that resets a tag that is out of step.
///
/// If no tag has come or gone for `PollPlan.idleAfter`, idle mode begins: the field is off between two looks, which
/// start every `idleInterval`. The plan then notices a removed tag that much later. The first miss ends idle mode.
struct PresencePlan {
  typealias Instant = SuspendingClock.Instant

  enum Step: Hashable {
    case pause(Duration)
    /// Ask the selected tag whether it is there.
    case check
    case fieldOff
    /// Look for these technologies, in this order. If `isAnew`, switch the field off first.
    case look([Modulation], isAnew: Bool)
  }

  /// The longest time between two checks. Together with the time for checks and looks on a slow line, a removed tag is
  /// noticed within 300 ms.
  static let checkInterval = Duration.milliseconds(120)
  /// The same for several resting tags, because their looks take longer.
  static let lookInterval = Duration.milliseconds(60)
  /// How often to look for tags in addition to the resting ones.
  static let newcomerInterval = Duration.milliseconds(700)
  /// The pause before the look that decides whether a tag is gone. That look switches the field off first, which resets
  /// every tag.
  static let confirmationInterval = Duration.milliseconds(10)

  /// In idle mode, the interval is this many times longer for tags with a random identifier. They get a new identifier
  /// each time the field comes on, and have to be read again to be recognised.
  static let rarity = 8
  /// In idle mode, the field is off for at least this many times as long as it was on for the look before.
  static let leastRest = 4

  /// The phases of idle mode.
  private enum Idleness {
    /// Idle mode is off. Can transition to: `.fieldIsOff`.
    case awake
    /// The field is being switched off. Can transition to: `.rested`, `.awake`.
    case fieldIsOff
    /// The pause with the field off. Can transition to: `.looked`, `.awake`.
    case rested
    /// The look for all tags, which began at this time. Can transition to: `.fieldIsOff`, `.awake`.
    case looked(since: Instant)
  }

  private let modulations: [Modulation]
  private let idleInterval: Duration
  private let shortest: Duration
  private var hasPaused = true
  private var hasChecked = true
  private var newcomersDue: Instant?
  /// The tags that rested at the last step, and since when they have been the same.
  private var known: [UInt64?] = []
  private var lastChange: Instant?
  private var idleness = Idleness.awake
  /// Of the last look in idle mode.
  private var lookTime = Duration.zero

  var isIdle: Bool { if case .awake = idleness { false } else { true } }

  /// If `pollInterval` is shorter than usual, checks come in quicker succession, too. `idleInterval` is the time
  /// between the starts of two looks after `PollPlan.idleAfter` without a change.
  init(_ modulations: [Modulation], pollInterval: Duration, idleInterval: Duration) {
    self.modulations = modulations
    self.idleInterval = max(idleInterval, Self.checkInterval)
    shortest = pollInterval * 3
  }

  /// Restarts the plan because a tag has come, or because scanning begins with one there. The next look includes other
  /// tags, which may lie beside it.
  mutating func begin() {
    newcomersDue = nil
    hasPaused = true
    hasChecked = true
    lastChange = nil
    idleness = .awake
  }

  /// A check has failed, so the tag may be gone, and the next pause is skipped.
  mutating func checkFailed() { hasPaused = true }

  /// Call it when the previous step is done. There is at least one resting tag.
  mutating func next(_ resting: [TargetField.Resting], selected: TagActivation?, at now: Instant) -> Step {
    let missed = resting.contains { $0.misses > 0 }
    if !missed, isQuiet(resting, at: now) { return idleStep(resting, at: now) }
    if isIdle {
      idleness = .awake
      hasPaused = !missed
    }
    guard hasPaused else {
      hasPaused = true
      if missed { return .pause(Self.confirmationInterval) }
      return .pause(min(resting.count == 1 ? Self.checkInterval : Self.lookInterval, shortest))
    }
    hasPaused = false
    let own = modulations.filter { modulation in resting.contains { $0.tag.modulation == modulation } }
    if missed { return .look(own, isAnew: true) }
    let isSelected = resting.count == 1 && selected.map { resting[0].tag.isSameTag(as: $0) } ?? false
    if newcomersDue.map({ now >= $0 }) ?? true {
      // Check the tag first. If it was there just now, a new tag lies beside it and has not replaced it.
      if isSelected && !hasChecked {
        (hasChecked, hasPaused) = (true, true)
        return .check
      }
      hasChecked = false
      newcomersDue = now + Self.newcomerInterval
      // The technologies of resting tags come last, so that a resting tag is selected afterwards.
      return .look(modulations.filter { !own.contains($0) } + own, isAnew: false)
    }
    if isSelected { return .check }
    return .look(own, isAnew: false)
  }

  private mutating func isQuiet(_ resting: [TargetField.Resting], at now: Instant) -> Bool {
    let numbers = resting.map(\.number)
    guard let lastChange, numbers == known else {
      (lastChange, known) = (now, numbers)
      return false
    }
    return lastChange.duration(to: now) >= PollPlan.idleAfter
  }

  private mutating func idleStep(_ resting: [TargetField.Resting], at now: Instant) -> Step {
    switch idleness {
    case .awake:
      idleness = .fieldIsOff
      lookTime = .zero
      return .fieldOff
    case .looked(let begin):
      idleness = .fieldIsOff
      lookTime = begin.duration(to: now)
      return .fieldOff
    case .fieldIsOff:
      idleness = .rested
      let mayChange = resting.contains { $0.tag.mayChangeIdentifier }
      let interval = idleInterval * (mayChange ? Self.rarity : 1)
      return .pause(max(interval - lookTime, lookTime * Self.leastRest))
    case .rested:
      idleness = .looked(since: now)
      let own = modulations.filter { modulation in resting.contains { $0.tag.modulation == modulation } }
      return .look(modulations.filter { !own.contains($0) } + own, isAnew: false)
    }
  }
}

/// How to check whether the selected tag is still there, with a single command if its kind has one.
enum PresenceCheck: Hashable {
  /// A command of the tag that reads a little data.
  case exchange([UInt8])
  /// The chip checks an ISO-DEP card with an empty block.
  case emptyBlock
  /// The chip looks for the tag again. If `sleepFirst`, it puts the tag to sleep before, because an awake tag would
  /// miss the look.
  case look(sleepFirst: Bool)

  init(_ tag: TagActivation) {
    switch tag.type {
    // READ of block 0 (NFC Forum Type 2 Tag, 5.2). Every tag supports it.
    case .type2: self = .exchange([0x30, 0x00])
    case .type4A, .type4B: self = .emptyBlock
    // A look is a poll, or a request and RID: less than any command of these tags. Not every FeliCa tag supports
    // Request Response.
    case .type1, .type3: self = .look(sleepFirst: false)
    // Before authentication, MIFARE Classic answers no cheaper command.
    default: self = .look(sleepFirst: true)
    }
  }

  func perform(_ tag: TagActivation, on device: NFCDevice) throws(NFCDevice.Failure) -> Bool {
    switch self {
    case .exchange(let command):
      if case .bytes = try tag.framing.exchange(command, with: device) { return true }
      return false
    case .emptyBlock:
      return try device.isCardPresent()
    case .look(let sleepFirst):
      if sleepFirst { try device.deselect() }
      return try device.selectAgain(tag).map { $0.isSameTag(as: tag) } ?? false
    }
  }
}
