import Journal
import PN53x
import ReaderKit
import ReaderProtocol

/// Finding, opening, losing and lending the device.
extension Poller {
  func find() throws(Interruption) {
    let isInDoubt = last.leftOn != nil
    switch schedule.step(wantsScanning: goal.usesField, isFieldInDoubt: isInDoubt, at: .now) {
    case .open: try open()
    case .wait(let duration):
      try pause(duration)
    case .sleep: try sleep()
    }
  }

  private func open() throws(Interruption) {
    daemon.timing = ReaderTiming(device: options.device)
    try daemon.promise(daemon.timing.opening)
    if let path = confinement.newDevice { return try give(path) }
    let state: ReaderState
    let refusal = confinement.refusal.map { DeviceSearch.Obstacle(state: .failed(reason: $0)) }
    let search = DeviceSearch(configured: options.device, known: last.known)
    switch refusal.map(Result.failure) ?? search.candidate(context) {
    case .failure(let obstacle):
      state = obstacle.state
      schedule.failed(nil, isAbsent: state.isAbsent, at: .now)
    case .success(let connectionString):
      switch Self.open(connectionString, context) {
      case .failure(let failure):
        schedule.failed(connectionString, at: .now)
        if failure.isFieldInDoubt { last.failed(fieldOf: connectionString) }
        let doubt = last.leftOn == nil ? "" : "; its field may be on until it answers"
        state = .failed(reason: failure.reason + schedule.advice(on: connectionString) + doubt)
      case .success(let device):
        self.device = device
        let isAnother = last.open(connectionString)
        // Opening has reset the chip, so the field is off.
        isReached = false
        daemon.timing = ReaderTiming(device: connectionString)
        device.beforeCommand = { [daemon] in try? daemon.beat() }
        openedAt = .now
        timesOff = -1
        isAtRest = false
        try report(.state(.ready(name: device.name, device: device.connectionString)))
        if isAnother { try changed() }
        return
      }
    }
    if state.isAbsent { last.areAway() }
    try report(.state(state))
    // An unplugged device has no tags any more. The tags of a silent device may still lie on it.
    if state.isAbsent { try handle(tracker.readerLeft()) }
  }

  /// Handles a device that was plugged in again at `path`. The former device is gone, and only a new process may open
  /// this one.
  private func give(_ path: String) throws(Interruption) {
    last.areAway()
    try report(.state(.absent(reason: "\(path) was plugged in again")))
    try handle(tracker.readerLeft())
    try report(.successorWanted)
    isOver = true
  }

  /// Handles a different device: the tags of the former one do not lie on it.
  private func changed() throws(Interruption) {
    if let leftOn = last.leftOn {
      try report(.log(.warning, "\(leftOn) failed earlier; its field may be on until it is unplugged"))
    }
    try handle(tracker.readerLeft())
  }

  private static func open(_ connectionString: String, _ context: OpaquePointer) -> Result<NFCDevice, NFCDevice.Failure>
  {
    Result { () throws(NFCDevice.Failure) in try NFCDevice.open(connectionString, context) }
  }

  func lose(_ failure: NFCDevice.Failure) throws(Interruption) {
    // Closing may have to wait for a silent chip.
    try daemon.promise(daemon.timing.closing)
    let connectionString = device?.connectionString
    if device?.isFieldOn == true { last.failed(fieldOf: connectionString) }
    device = nil
    selected = nil
    mayListen = false
    daemon.allow(.zero)
    daemon.dropRequests()
    try daemon.report(.log(.warning, failure.reason))
    if goal.usesField { isReached = false }
    try daemon.report(.state(.failed(reason: failure.reason)))
    schedule.lost(connectionString, openedAt: openedAt, at: .now)
    dropSession()
  }

  /// Closes the device so that another program can open it, and sleeps.
  func lend() throws(Interruption) {
    if let device {
      try letGo(device)
      try asking(device) { (device) throws(NFCDevice.Failure) in try device.switchFieldOff() }
      try daemon.promise(daemon.timing.closing)
    }
    device = nil
    (isAtRest, isLent) = (false, true)
    daemon.forgetState()
    try reach()
    try sleep()
  }
}

extension ReaderState {
  fileprivate var isAbsent: Bool { if case .absent = self { true } else { false } }
}
