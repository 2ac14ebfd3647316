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
  /// Its process says that the field is on.
  var isFieldOn = false
  var isReady = false
  /// Its device is not plugged in, and udev will tell when it is.
  var isAway = false
  /// A manual reader session has it.
  private(set) var isInSession = false
  /// Its device is closed for another program, or about to be.
  private(set) var isReleased = false
  /// Its process says that its device is closed for another program.
  var isLent = false
  /// Its process was told last to look for tags.
  private(set) var isToScan = false
  /// Whose tags it was told to look for.
  private(set) var scansFor: SessionKey?
  /// Its process was told to look for no tags and has not said that it has stopped. What it reads until then may have been laid
  /// down while something said no, or for the one who sat here before. It is not told to look again before, however often what is known
  /// changes meanwhile: so there is one such order at a time, and no doubt which one an answer is to.
  private(set) var isStopping = false
  var gate: ScanGate
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
    gate = ScanGate(policy: policy)
  }

  /// What a log line calls it.
  var label: String {
    // libnfc calls a device on a serial line by its connection string.
    let isNamed = !properties.name.isEmpty && properties.name != properties.device
    return isNamed ? "\(properties.name) (\(properties.device))" : properties.device
  }

  /// Takes in what its process says of the device.
  mutating func update(_ state: ReaderState) {
    switch state {
    case .ready(let name, _):
      properties.name = name
      isReady = true
      properties.stateReason = ""
      showUse()
    case .absent(let reason):
      isReady = false
      properties.state = "absent"
      properties.stateReason = reason
    case .failed(let reason):
      isReady = false
      properties.state = "failed"
      properties.stateReason = reason
    }
  }

  /// Takes in whether the field is on.
  mutating func update(isFieldOn: Bool) {
    self.isFieldOn = isFieldOn
    showUse()
  }

  /// Its process is told to look for tags.
  ///
  /// - Parameter owner: whose they are.
  mutating func begin(for owner: SessionKey?) {
    isToScan = true
    scansFor = owner
  }

  /// Its process is told to look for no tags.
  mutating func stop() {
    isToScan = false
    isStopping = true
  }

  /// Nothing that was read before it was told to stop is to come: its process says so, or is not listened to any more.
  mutating func hasStopped() { isStopping = false }

  /// Whether the field may be on: its process says so, or was told to switch it on and has not confirmed an order to stop since.
  var mayFieldBeOn: Bool { isFieldOn || isToScan || isStopping }

  /// Takes in whether a manual reader session has it.
  mutating func update(isInSession: Bool) {
    self.isInSession = isInSession
    showUse()
  }

  /// Takes in whether it is released to another program.
  mutating func update(isReleased: Bool) {
    self.isReleased = isReleased
    showUse()
  }

  private mutating func showUse() {
    guard isReady else { return }
    properties.state = isReleased ? "released" : isInSession ? "in-session" : isFieldOn ? "scanning" : "ready"
  }
}
