import Journal
import Names
import ReaderProtocol
import Settings

/// Decides which readers exist, as devices are plugged in and removed.
///
/// Pure: events in, actions out. Each event recomputes all readers, and the actions are the differences to the present
/// ones. With `[Reader] Devices=`, these are the readers, present or not. Without it, the readers are the present USB
/// readers, each through the library of its `BackendChoice`, and the others that libnfc names. Without udev, they are
/// the readers of pcscd's list, and those that libnfc finds at the start, or the first one that it finds later.
///
/// A USB reader that is used through pcscd exists once pcscd lists it, under each name that it has there.
struct ReaderRoster: Sendable {
  enum Event: Sendable {
    /// The daemon starts.
    case start
    case device(DeviceEvent)
    /// The answer of libnfc to `listing`.
    case listed([String])
    /// The process of a reader has opened this device.
    case opened(Int, device: String)
    /// The process of a reader cannot open its device.
    case failed(Int, ReaderObstacle?)
    /// The configuration was read, and names these devices. The support replaces that of `pcscd`.
    case configured([String], DaemonConfiguration.Backend = .auto, PCSCSupport = .none)
    /// The present state of pcscd, for devices that are plugged in later.
    case pcscd(PCSCSupport)
    /// pcscd's list. It replaces the one before it.
    case pcscReaders([PCSCReader])
    /// pcscd gives no list at present. The readers stay, because each process sees for itself what happens to its reader.
    case pcscProblem(PCSCProblem)
    /// Nobody asks pcscd for its list any more.
    case pcscUnwatched
    /// `awaited` has stayed the same for `PCSCAccess.patience`.
    case waited
  }

  enum Action: Hashable, Sendable {
    /// Show the reader to clients.
    case show(Int, device: String, seat: String)
    /// Start a process for it. Without a device the process takes the first one that libnfc finds.
    case start(Int, device: String?)
    /// End its process.
    case stop(Int)
    /// End its process, and start one for another device.
    case restart(Int, device: String)
    /// It cannot be used, and has no process.
    case refuse(Int, reason: String)
    /// Remove it for clients.
    case hide(Int)
    /// Tell its process to look for its device, which has changed.
    case look(Int)
    /// It now belongs to another seat.
    case move(Int, seat: String)
    /// True if its device is unplugged and udev will report its return; false if this no longer holds.
    case away(Int, Bool)
    case log(LogLevel, String)
  }

  struct Reader: Hashable, Sendable {
    /// The device string for clients. Nil until a reader without a name has found its device.
    var device: String?
    var seat = DaemonState.defaultSeat
    /// The path of its device; nil while udev reports none.
    var path: String?
    /// Whether the configuration or libnfc names it, so that it stays while its device is absent.
    var stays = true
    /// Whether udev reports its device.
    var isFollowed = false
    /// The device string for its process. Nil if it has no process, or one that takes the first device found.
    var target: String?
    /// Its name in pcscd's list; nil if it is not a reader of pcscd, or is not listed.
    var slot: String?
    /// Why it has no process; nil if it has one.
    var refusal: Refusal?
    /// The reason why it cannot be opened.
    var obstacle: ReaderObstacle?

    var isRefused: Bool { refusal != nil }

    /// Whether it is used through pcscd.
    var isPCSC: Bool { device?.hasPrefix(Names.PCSC.devicePrefix) == true }

    /// Whether its process takes the first device that libnfc finds.
    var seeks: Bool { target == nil && !isRefused }

    /// Whether one process and one D-Bus object can serve both readers.
    func isSame(as other: Self) -> Bool {
      var copy = self
      (copy.seat, copy.stays, copy.obstacle) = (other.seat, other.stays, other.obstacle)
      copy.slot = other.slot
      return copy == other
    }
  }

  /// Why a reader has no process.
  enum Refusal: Hashable, Sendable {
    /// The reader with this name already has the same device.
    case sameDevice(String)
    /// No program can drive it, for this reason.
    case undriven(String)

    init(holder: Reader) { self = .sameDevice(holder.device ?? "another reader") }

    var reason: String {
      switch self {
      case .sameDevice(let holder): "\(holder) is the same device: name each device once in Devices"
      case .undriven(let reason): reason
      }
    }
  }

  /// The limit of readers.
  static let most = 16

  /// The readers to ask libnfc for. If libnfc searches for readers itself, it touches every reader that it knows.
  enum Listing: Hashable, Sendable {
    case nothing
    /// Those in its configuration file: udev reports all others.
    case named
    case everything
  }

  var listing: Listing {
    guard configured.isEmpty, backend != .pcsc else { return .nothing }
    return hasUdev ? .named : .everything
  }

  private(set) var readers: [Int: Reader] = [:]
  private(set) var configured: [String]
  private(set) var backend: DaemonConfiguration.Backend
  private(set) var support: PCSCSupport
  /// The library of each present USB reader, by the path of the device.
  private(set) var choices: [String: BackendChoice] = [:]
  private(set) var devices: [String: Device] = [:]
  /// What pcscd says.
  var pcscList = PCSCList()
  /// The answer of libnfc; nil until it has come.
  private(set) var found: [String]?
  private(set) var isStarted = false
  let hasUdev: Bool
  let hasSystemd: Bool
  let resolve: @Sendable (String) -> String?
  /// The number of the next reader. No number is used twice.
  private var next = 0
  private var isFull = false

  /// `configured` are device strings. `resolve` follows the links of a path, like realpath(3).
  init(
    configured: [String], backend: DaemonConfiguration.Backend = .auto, support: PCSCSupport = .none, hasUdev: Bool,
    hasSystemd: Bool = true, resolve: @escaping @Sendable (String) -> String? = { $0 }
  ) {
    self.configured = configured
    self.backend = backend
    self.support = support
    self.hasUdev = hasUdev
    self.hasSystemd = hasSystemd
    self.resolve = resolve
  }

  mutating func handle(_ event: Event) -> [Action] {
    switch event {
    case .start: isStarted = true
    case .configured(let names, let backend, let support):
      let choices = devices.compactMapValues { BackendChoice($0, backend, support) }
      guard names != configured || backend != self.backend || support != self.support || choices != self.choices else {
        return []
      }
      if names != configured { found = nil }
      (configured, self.backend, self.support, self.choices) = (names, backend, support, choices)
      return update(startsOver: true)
    case .pcscd(let support):
      self.support = support
      return []
    case .pcscReaders(let list): pcscList.take(list)
    case .pcscProblem(let problem): pcscList.problem = problem
    case .pcscUnwatched: pcscList = PCSCList()
    case .waited: pcscList.overdue.formUnion(awaited)
    case .listed(let found):
      guard listing != .nothing else { return [] }
      self.found = found
    case .device(.present(let present)):
      let changed = present.filter { devices[$0.path] != $0 }
      let paths = Set(present.map(\.path))
      for path in devices.keys where !paths.contains(path) { forget(path) }
      for device in changed { note(device) }
      return update(after: changed)
    case .device(.added(let device)):
      note(device)
      return update(after: [device], isNew: true)
    case .device(.changed(let device)):
      note(device)
      return update(after: [device])
    case .device(.removed(let path)): forget(path)
    case .opened(let id, let device): return opened(id, device)
    case .failed(let id, let obstacle):
      readers[id]?.obstacle = obstacle
      return []
    }
    return update()
  }

  /// The reader with the device at this path.
  func reader(at path: String) -> Int? { readers.first { $0.value.path == path }?.key }

  private mutating func opened(_ id: Int, _ device: String) -> [Action] {
    guard let reader = readers[id] else { return [] }
    readers[id]?.obstacle = nil
    guard reader.seeks, reader.device != device else { return [] }
    guard reader.device == nil else {
      // For clients, another device is another reader. A new process starts with the goal and the epoch of the new one.
      readers[id]?.device = nil
      return [.hide(id), .stop(id), .start(id, device: nil)]
    }
    readers[id]?.device = device
    return [.show(id, device: device, seat: reader.seat)]
  }

  private mutating func note(_ device: Device) {
    if let before = devices[device.path], before.usb?.number != device.usb?.number || before.node != device.node {
      // The device was replugged, and the event of its removal is missing.
      if let id = reader(at: device.path) { readers[id]?.path = nil }
      forget(device.path)
    }
    devices[device.path] = device
    if choices[device.path] == nil { choices[device.path] = BackendChoice(device, backend, support) }
  }

  private mutating func forget(_ path: String) {
    if let device = devices[path] { pcscList.departed.formUnion(slots(of: device)) }
    pcscList.overdue.remove(path)
    (devices[path], choices[path]) = (nil, nil)
  }

  // MARK: Differences

  /// Updates the readers after an event with the devices `changed`. `isNew` says whether they were plugged in. With
  /// `startsOver`, computes the readers as at the start, and keeps only unchanged ones.
  private mutating func update(
    after changed: [Device] = [], isNew: Bool = false, startsOver: Bool = false
  ) -> [Action] {
    let wanted = wanted(startsOver: startsOver)
    var kept = Dictionary(uniqueKeysWithValues: wanted.compactMap { id, reader in id.map { ($0, reader) } })
    let added = wanted.filter { $0.id == nil }.map(\.reader)
    let before = sortedReaders
    var actions = before.flatMap { id, reader -> [Action] in
      // Hidden first: the end of a process forgets the tags on the reader, whose removal is still to be reported.
      guard let after = kept[id] else { return (reader.device == nil ? [] : [.hide(id)]) + [.stop(id)] }
      guard let refusal = after.refusal, refusal != reader.refusal else { return [] }
      return (reader.isRefused ? [] : [.stop(id)]) + [.refuse(id, reason: refusal.reason)]
    }
    for (id, reader) in before {
      guard var after = kept[id] else { continue }
      let device = changed.first { $0.path == after.path }
      let isFree = device.flatMap { after.obstacle?.isGone(from: $0) } == true
      if isFree || reader.path != after.path { after.obstacle = nil }
      kept[id] = after
      actions += differences(id, reader, after, isToLook: isFree || isNew && device != nil)
    }
    readers = kept
    for reader in added.prefix(Self.most - kept.count) {
      actions += introduction(next, reader)
      readers[next] = reader
      next += 1
    }
    defer { isFull = added.count > Self.most - kept.count }
    guard added.count > Self.most - kept.count, !isFull else { return actions }
    return actions + [.log(.warning, "at most \(Self.most) readers are supported: further ones are ignored")]
  }

  private func differences(_ id: Int, _ before: Reader, _ after: Reader, isToLook: Bool) -> [Action] {
    var actions: [Action] = []
    if before.seat != after.seat { actions.append(.move(id, seat: after.seat)) }
    guard !after.isRefused else { return actions }
    let isRestarted = before.target != after.target
    if isRestarted, let device = after.target {
      actions.append(before.isRefused ? .start(id, device: device) : .restart(id, device: device))
    }
    if before.path != after.path, before.isFollowed { actions.append(.away(id, after.path == nil)) }
    if !isRestarted, isToLook || before.path != after.path { actions.append(.look(id)) }
    return actions
  }

  private func introduction(_ id: Int, _ reader: Reader) -> [Action] {
    guard let device = reader.device else { return [.start(id, device: nil)] }
    let show = Action.show(id, device: device, seat: reader.seat)
    if let refusal = reader.refusal { return [show, .refuse(id, reason: refusal.reason)] }
    guard let target = reader.target else { return [.start(id, device: nil), show] }
    // Start the process first, so that it exists when the reader gets its goal.
    return [.start(id, device: target), show] + (reader.isFollowed && reader.path == nil ? [.away(id, true)] : [])
  }

  var sortedReaders: [(key: Int, value: Reader)] { readers.sorted { $0.key < $1.key } }
}
