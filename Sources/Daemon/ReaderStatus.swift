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
    let technologies: [String]
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
  /// Its process was told last to look for tags.
  var isToScan = false
  var gate: ScanGate
  /// What its process says in its own words.
  var processLines = LineBudget(most: 60)
  /// How its state changes; a device that comes and goes does so less often.
  var changeLines = LineBudget(most: 60)
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
      properties.state = isFieldOn ? "scanning" : "ready"
      properties.stateReason = ""
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
    if isReady { properties.state = isFieldOn ? "scanning" : "ready" }
  }
}
