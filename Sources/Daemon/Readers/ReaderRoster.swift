import DeviceEvents
import Journal

/// Decides which readers exist, as devices are plugged in and removed.
///
/// Pure: events in, actions out. Each event recomputes all readers, and the actions are the differences to the present
/// ones. With `[Reader] Devices=`, these are the readers, present or not. Without it, the readers are the present USB
/// readers and the others that libnfc names. Without udev, they are the readers that libnfc finds at the start, or the
/// first one that it finds later.
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
    /// The configuration has changed and names these devices.
    case configured([String])
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
    /// The connection string for clients. Nil until a reader without a name has found its device.
    var device: String?
    var seat = DaemonState.defaultSeat
    /// The path of its device; nil while udev reports none.
    var path: String?
    /// Whether the configuration or libnfc names it, so that it stays while its device is absent.
    var stays = true
    /// Whether udev reports its device.
    var isFollowed = false
    /// The connection string for its process. Nil if it has no process, or one that takes the first device found.
    var target: String?
    /// The name of another reader that already has the same device. This reader then has no process.
    var holder: String?
    /// The reason why it cannot be opened.
    var obstacle: ReaderObstacle?

    var isRefused: Bool { holder != nil }

    /// Whether its process takes the first device that libnfc finds.
    var seeks: Bool { target == nil && !isRefused }

    /// Whether one process and one D-Bus object can serve both readers.
    fileprivate func isSame(as other: Self) -> Bool {
      var copy = self
      (copy.seat, copy.stays, copy.obstacle) = (other.seat, other.stays, other.obstacle)
      return copy == other
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

  var listing: Listing { configured.isEmpty ? (hasUdev ? .named : .everything) : .nothing }
  private(set) var readers: [Int: Reader] = [:]
  private var configured: [String]
  /// The readers that stay, by their connection strings; nil is the first device that libnfc finds.
  private var names: [String?] = []
  private let hasUdev: Bool
  private let resolve: @Sendable (String) -> String?
  private var devices: [String: Device] = [:]
  /// The number of the next reader. No number is used twice.
  private var next = 0
  private var isFull = false

  /// `configured` are connection strings. `resolve` follows the links of a path, like realpath(3).
  init(configured: [String], hasUdev: Bool, resolve: @escaping @Sendable (String) -> String? = { $0 }) {
    self.configured = configured
    self.hasUdev = hasUdev
    self.resolve = resolve
  }

  mutating func handle(_ event: Event) -> [Action] {
    switch event {
    case .start: names = configured
    case .configured(let new):
      guard new != configured else { return [] }
      (configured, names) = (new, new)
      return update(startsOver: true)
    case .listed(let found):
      switch listing {
      case .nothing: return []
      // udev reports the USB readers.
      case .named: names = found.filter { !ReaderAddress($0).isUSB }
      case .everything: names = found.isEmpty ? [nil] : LastingDevice.names(of: found)
      }
    case .device(.present(let present)):
      let changed = present.filter { devices[$0.path] != $0 }
      let paths = Set(present.map(\.path))
      devices = devices.filter { paths.contains($0.key) }
      for device in changed { note(device) }
      return update(after: changed)
    case .device(.added(let device)):
      note(device)
      return update(after: [device], isNew: true)
    case .device(.changed(let device)):
      note(device)
      return update(after: [device])
    case .device(.removed(let path)): devices[path] = nil
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
      return [.stop(id), .hide(id), .start(id, device: nil)]
    }
    readers[id]?.device = device
    return [.show(id, device: device, seat: reader.seat)]
  }

  private mutating func note(_ device: Device) {
    if let before = devices[device.path], before.usb?.number != device.usb?.number || before.node != device.node,
      let id = reader(at: device.path)
    {
      // The device was replugged, and the event of its removal is missing.
      readers[id]?.path = nil
    }
    devices[device.path] = device
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
      guard let after = kept[id] else { return [.stop(id)] + (reader.device == nil ? [] : [.hide(id)]) }
      return after.isRefused && !reader.isRefused ? [.stop(id), refusal(id, after)] : []
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
    guard let target = reader.target else { return [show, refusal(id, reader)] }
    // Start the process first, so that it exists when the reader gets its goal.
    return [.start(id, device: target), show] + (reader.isFollowed && reader.path == nil ? [.away(id, true)] : [])
  }

  private func refusal(_ id: Int, _ reader: Reader) -> Action {
    .refuse(id, reason: "\(reader.holder ?? "another reader") is the same device: name each device once in Devices")
  }

  // MARK: The wanted readers

  /// The readers, each with the number of the present reader that it continues.
  private func wanted(startsOver: Bool) -> [(id: Int?, reader: Reader)] {
    var left = sortedReaders
    func take(_ isMeant: (Reader) -> Bool) -> (id: Int, reader: Reader)? {
      left.firstIndex { isMeant($0.value) }.map { left.remove(at: $0) }.map { ($0.key, $0.value) }
    }
    // Exact names choose first. A name that may mean several devices then takes one that no exact name means.
    let named = (names.filter { !isLoose($0) } + names.filter(isLoose)).map { name in
      (name: name, before: take { name == nil ? $0.seeks : !$0.seeks && $0.device == name && ($0.stays || startsOver) })
    }
    // The readers that have a device, by its path and by the file of their name.
    var holders: [String: Reader] = [:]
    for case let before? in named.map(\.before?.reader) where !startsOver {
      if let path = before.path, devices[path] != nil { holders[path] = before }
    }
    var wanted = named.map { name, before -> (id: Int?, reader: Reader) in
      guard let name else { return (before?.id, before?.reader ?? Reader()) }
      let reader = reader(name, after: startsOver ? nil : before?.reader, &holders)
      guard startsOver else { return (before?.id, reader) }
      guard var same = before, same.reader.isSame(as: reader) else { return (nil, reader) }
      same.reader.stays = true
      return (same.id, same.reader)
    }
    guard configured.isEmpty else { return wanted }
    for device in sortedDevices where holders[device.path] == nil {
      guard let name = USBReaderModel.connectionString(of: device) else { continue }
      var reader = Reader(device: name, path: device.path, stays: false, isFollowed: true, target: name)
      let before = take { $0.isSame(as: reader) }
      reader.obstacle = before?.reader.obstacle
      reader.seat = device.seat ?? DaemonState.defaultSeat
      wanted.append((before?.id, reader))
    }
    return wanted
  }

  /// The reader with the connection string `name`, which stays. It continues `before`: it keeps a device that is still
  /// present. Without a device it keeps its seat.
  private func reader(_ name: String, after before: Reader?, _ holders: inout [String: Reader]) -> Reader {
    let address = ReaderAddress(name)
    let meant = sortedDevices.filter { address.means($0, resolve: resolve) }
    let own = before?.path.flatMap { devices[$0] }
    let device = own ?? meant.first { holders[$0.path] == nil }
    let file: String? = if case .file(let path) = address { resolve(path) ?? path } else { nil }
    var holder: Reader?
    if own == nil { holder = file.flatMap { holders[$0] } }
    if device == nil { holder = meant.first.flatMap { holders[$0.path] } ?? holder }
    var reader = before ?? Reader(device: name, seat: holder?.seat ?? DaemonState.defaultSeat)
    reader.isFollowed = hasUdev && (reader.isFollowed || device != nil || address.isUdevs)
    // Two processes with one device would take it from each other again and again. A refused reader stays refused until
    // there is a device for it.
    reader.holder = holder?.device ?? (device == nil ? before?.holder : nil)
    guard !reader.isRefused else {
      (reader.path, reader.target) = (nil, nil)
      return reader
    }
    reader.path = device?.path
    if let device { reader.seat = device.seat ?? DaemonState.defaultSeat }
    reader.target = device.map { narrowed(name, to: $0) } ?? before?.target ?? name
    for key in [reader.path, file].compactMap(\.self) { holders[key] = reader }
    return reader
  }

  private var sortedReaders: [(key: Int, value: Reader)] { readers.sorted { $0.key < $1.key } }

  private var sortedDevices: [Device] { devices.values.sorted { $0.path < $1.path } }

  /// Whether a name may mean one of several devices.
  private func isLoose(_ name: String?) -> Bool {
    guard let name, case .usb(let parts) = ReaderAddress(name) else { return false }
    return parts.count < 3
  }

  /// The connection string that opens exactly this device. With a name for several devices, libnfc takes the first one
  /// in its own order, which may be on another seat.
  private func narrowed(_ name: String, to device: Device) -> String {
    isLoose(name) ? USBReaderModel.connectionString(of: device) ?? name : name
  }
}
