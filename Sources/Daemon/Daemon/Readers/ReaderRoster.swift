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
    case start
    case device(DeviceEvent)
    /// The answer of libnfc to `listing`.
    case listed([String])
    case opened(Int, device: String)
    case failed(Int, ReaderObstacle?)
    /// The configuration was read, and names these devices. The support replaces that of `pcscd`.
    case configured([String], DaemonConfiguration.Backend = .auto, PCSCSupport = .none)
    /// The present state of pcscd, for devices that are plugged in later.
    case pcscd(PCSCSupport)
    /// pcscd's list. It replaces the one before it.
    case pcscReaders([PCSCReader])
    /// pcscd gives no list at present. The readers stay, because each process sees for itself what happens to its reader.
    case pcscProblem(PCSCProblem)
    /// The daemon no longer asks pcscd for its list.
    case pcscUnwatched
    /// `awaited` has stayed the same for `PCSCAccess.patience`.
    case waited
  }

  enum Action: Hashable, Sendable {
    case show(Int, device: String, seat: String)
    /// Start a process for it. Without a device the process takes the first one that libnfc finds.
    case start(Int, device: String?)
    case stop(Int)
    case restart(Int, device: String)
    /// It cannot be used, and has no process.
    case refuse(Int, reason: String)
    case hide(Int)
    /// Tell its process to look for its device, which has changed.
    case look(Int)
    case move(Int, seat: String)
    /// True if its device is unplugged and udev will report its return; false if this no longer holds.
    case away(Int, Bool)
    case log(LogLevel, String)
  }

  struct Reader: Hashable, Sendable {
    /// The device string for clients. Nil until a reader without a name has found its device.
    var device: String?
    var seat = Seats.defaultSeat
    /// The path of its device; nil while udev reports none.
    var path: String?
    /// Whether the configuration or libnfc names it, so that it stays while its device is absent.
    var stays = true
    /// Whether udev reports its device.
    var isFollowed = false
    /// The device string for its process; nil if it has no process, or one that takes the first device found.
    var target: String?
    /// Its name in pcscd's list; nil if it is not a reader of pcscd, or is not listed.
    var slot: String?
    /// Nil if it has a process.
    var refusal: Refusal?
    var obstacle: ReaderObstacle?

    var isRefused: Bool { refusal != nil }

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

  enum Refusal: Hashable, Sendable {
    /// The reader with this name already has the same device.
    case sameDevice(String)
    /// No program can drive it.
    case undriven(String)

    init(holder: Reader) { self = .sameDevice(holder.device ?? "another reader") }

    var reason: String {
      switch self {
      case .sameDevice(let holder): "\(holder) is the same device: name each device once in Devices"
      case .undriven(let reason): reason
      }
    }
  }

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
  /// By the path of the device.
  private(set) var choices: [String: BackendChoice] = [:]
  private(set) var devices: [String: Device] = [:]
  var pcscList = PCSCList()
  /// Nil until libnfc has answered.
  private(set) var found: [String]?
  private(set) var isStarted = false
  let hasUdev: Bool
  let hasSystemd: Bool
  let resolve: @Sendable (String) -> String?
  /// No number is used twice.
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
      // Hidden first: the end of a process forgets the tags on the reader, and their removal is still to be reported.
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

/// The readers that there should be.
extension ReaderRoster {
  /// The readers that have a device: by the path of the device, by the file in their name, by their name in pcscd's list.
  typealias Holders = [String: Reader]

  /// The readers that stay while their device is absent, by their device strings. Nil is the first device that libnfc
  /// finds.
  private var names: [String?] {
    guard configured.isEmpty else { return isStarted ? configured : [] }
    guard let found, listing != .nothing else { return [] }
    // libnfc has drivers that go through pcscd, too. pcscd lists these readers itself.
    let own = found.filter { !["pcsc", "acr122_pcsc"].contains($0.prefix { $0 != ":" }) }
    // udev reports the USB readers.
    if hasUdev { return own.filter { !ReaderAddress($0).isUSB } }
    // A reader that pcscd has is not libnfc's, so wait for pcscd's list.
    guard !needsPCSCList || pcscList.isKnown else { return [] }
    let names = zip(own, LastingDevice.names(of: own)).filter { !isListed(asUSB: $0.0) }.map(\.1)
    return names.isEmpty && !(needsPCSCList && pcscList.readers != nil) ? [nil] : names
  }

  /// Each reader with the number of the present reader that it continues.
  func wanted(startsOver: Bool) -> [(id: Int?, reader: Reader)] {
    var left = sortedReaders
    func take(_ isMeant: (Reader) -> Bool) -> (id: Int, reader: Reader)? {
      left.firstIndex { isMeant($0.value) }.map { left.remove(at: $0) }.map { ($0.key, $0.value) }
    }
    // Exact names choose first. A name that may mean several devices then takes one that no exact name means.
    let names = self.names
    let named = (names.filter { !isLoose($0) } + names.filter(isLoose)).map { name in
      (name: name, before: take { name == nil ? $0.seeks : !$0.seeks && $0.device == name && ($0.stays || startsOver) })
    }
    var holders: Holders = [:]
    for case let before? in named.map(\.before?.reader) where !startsOver {
      if let path = before.path, devices[path] != nil { holders[path] = before }
      if let slot = before.slot, pcscList.has(slot) { holders[Self.key(ofSlot: slot)] = before }
    }
    var wanted = named.map { name, before -> (id: Int?, reader: Reader) in
      guard let name else { return (before?.id, before?.reader ?? Reader()) }
      let reader = reader(name, after: startsOver ? nil : before?.reader, &holders)
      guard startsOver else { return (before?.id, reader) }
      guard var same = before, same.reader.isSame(as: reader) else { return (nil, reader) }
      (same.reader.stays, same.reader.slot) = (true, reader.slot)
      return (same.id, same.reader)
    }
    guard configured.isEmpty else { return wanted }
    for var reader in libnfcReaders() where reader.path.flatMap({ holders[$0] }) == nil {
      let before = take { $0.isSame(as: reader) }
      reader.obstacle = before?.reader.obstacle
      wanted.append((before?.id, reader))
    }
    for reader in pcscReaders() {
      // udev may report the device after pcscd has listed it.
      let before = take { $0.device == reader.device && !$0.isRefused && [nil, reader.path].contains($0.path) }
      wanted.append((before?.id, reader))
    }
    for reader in undrivenReaders() {
      wanted.append((take { $0.device == reader.device && $0.isRefused && $0.path == reader.path }?.id, reader))
    }
    return wanted
  }

  private func libnfcReaders() -> [Reader] {
    sortedDevices.compactMap { device in
      // If pcscd lists the device, it has the device, even if no table of a driver names it.
      guard choices[device.path] == .libnfc, !isListed(device), let name = USBReaderModel.connectionString(of: device)
      else { return nil }
      return Reader(
        device: name, seat: seat(of: device), path: device.path, stays: false, isFollowed: true, target: name)
    }
  }

  /// The reader with the device string `name`, which stays. It continues `before`: it keeps a device that is still
  /// present. Without a device it keeps its seat.
  private func reader(_ name: String, after before: Reader?, _ holders: inout Holders) -> Reader {
    let address = ReaderAddress(name)
    if case .pcsc(let wanted) = address { return pcscReader(wanted, name, after: before, &holders) }
    let meant = sortedDevices.filter { address.means($0, resolve: resolve) }
    let own = before?.path.flatMap { devices[$0] }
    let device = own ?? meant.first { holders[$0.path] == nil }
    let file: String? = if case .file(let path) = address { resolve(path) ?? path } else { nil }
    var holder: Reader?
    if own == nil { holder = file.flatMap { holders[$0] } }
    if device == nil { holder = meant.first.flatMap { holders[$0.path] } ?? holder }
    var reader = before ?? Reader(device: name, seat: holder?.seat ?? Seats.defaultSeat)
    reader.isFollowed = hasUdev && (reader.isFollowed || device != nil || address.isUdevs)
    // Two processes with one device would take it from each other again and again. A refused reader stays refused until
    // there is a device for it.
    reader.refusal = holder.map(Refusal.init(holder:)) ?? (device == nil ? before?.refusal : nil)
    guard !reader.isRefused else {
      (reader.path, reader.target) = (nil, nil)
      return reader
    }
    reader.path = device?.path
    if let device { reader.seat = seat(of: device) }
    reader.target = device.map { narrowed(name, to: $0) } ?? before?.target ?? name
    for key in [reader.path, file].compactMap(\.self) { holders[key] = reader }
    return reader
  }

  var sortedDevices: [Device] { devices.values.sorted { $0.path < $1.path } }

  func seat(of device: Device) -> String { device.seat ?? Seats.defaultSeat }

  /// Whether a name may mean one of several devices.
  private func isLoose(_ name: String?) -> Bool {
    switch name.map({ ReaderAddress($0) }) {
    case .usb(let parts): parts.count < 3
    case .pcsc(let name): Names.PCSC.withoutNumbers(name) == name
    case .file, .other, nil: false
    }
  }

  /// The connection string that opens exactly this device. With a name for several devices, libnfc takes the first one
  /// in its own order, which may be on another seat.
  private func narrowed(_ name: String, to device: Device) -> String {
    isLoose(name) ? USBReaderModel.connectionString(of: device) ?? name : name
  }
}
