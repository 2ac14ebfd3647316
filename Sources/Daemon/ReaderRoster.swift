import DeviceEvents
import Journal

/// Which readers there should be, as devices come and go.
///
/// Pure: events in, actions out. With `[Reader] Devices=` these are the readers, whether or not they are plugged in. Without,
/// they are the USB readers that are plugged in, and what else libnfc names. Where udev does not run, they are those
/// that libnfc finds at the start, or the first that it finds later.
struct ReaderRoster: Sendable {
  enum Event: Sendable {
    /// The beginning.
    case start
    case device(DeviceEvent)
    /// What libnfc names, asked once.
    case listed([String])
    /// The process of a reader has this device open.
    case opened(Int, device: String)
    /// The process of a reader cannot open its device.
    case failed(Int, ReaderObstacle?)
    /// The configuration names these from here on.
    case configured([String])
  }

  enum Action: Hashable, Sendable {
    /// A reader is there; show it to clients.
    case show(Int, device: String, seat: String)
    /// Start a process for it; without a device it takes the first that libnfc finds.
    case start(Int, device: String?)
    /// End its process.
    case stop(Int)
    /// End its process and start one for another device that it is from now on.
    case restart(Int, device: String)
    /// It cannot be used, and has no process.
    case refuse(Int, reason: String)
    /// Show it to clients no more.
    case hide(Int)
    /// Something about its device is new: its process should look.
    case look(Int)
    /// It belongs to another seat now.
    case move(Int, seat: String)
    /// Its device is not plugged in, and udev will tell when it is; or that is so no more.
    case away(Int, Bool)
    case log(LogLevel, String)
  }

  struct Reader: Hashable, Sendable {
    /// nil: the first that libnfc finds, and none is found yet.
    var device: String?
    var seat: String
    /// The path of the device that it is, as long as udev knows one.
    var path: String?
    /// Whether it is in the configuration, so that it stays while its device is away.
    var stays: Bool
    /// Whether its process takes whatever libnfc finds first.
    let seeks: Bool
    /// Whether udev tells when its device comes or goes.
    var isFollowed: Bool
    /// What its process was started with; nil where it has none, or one that seeks.
    var target: String?
    /// Whether another reader is the device that it means, so that it has no process.
    var isRefused = false
    /// What keeps it from being opened.
    var obstacle: ReaderObstacle?
  }

  /// Readers at a time.
  static let most = 16

  /// What is asked of libnfc, which touches every reader it knows when it looks for itself.
  enum Listing: Hashable, Sendable {
    case nothing
    /// What its configuration file names: udev tells of everything else.
    case named
    case everything
  }

  var listing: Listing { configured.isEmpty ? (hasUdev ? .named : .everything) : .nothing }
  var readers: [Int: Reader] = [:]
  private(set) var configured: [String]
  let hasUdev: Bool
  let resolve: @Sendable (String) -> String?
  private(set) var devices: [String: Device] = [:]
  /// The number of the next reader; none is given twice.
  var next = 0
  private var isFull = false

  /// - Parameters:
  ///   - configured: the connection strings of the configuration.
  ///   - hasUdev: whether udev tells of devices.
  ///   - resolve: follows the links of a path, as realpath(3) does.
  init(configured: [String], hasUdev: Bool, resolve: @escaping @Sendable (String) -> String? = { $0 }) {
    self.configured = configured
    self.hasUdev = hasUdev
    self.resolve = resolve
  }

  mutating func handle(_ event: Event) -> [Action] {
    switch event {
    case .start:
      // `pn53x_usb` takes what nobody names.
      return configured.filter { !isLoose($0) }.flatMap { add($0) }
        + configured.filter { isLoose($0) }.flatMap { add($0) }
    case .device(.present(let present)):
      let paths = Set(present.map(\.path))
      let gone = devices.keys.filter { !paths.contains($0) }.sorted()
      return gone.flatMap { remove($0) } + present.flatMap { devices[$0.path] == $0 ? [] : update($0) }
    case .device(.added(let device)): return update(device, isNew: true)
    case .device(.changed(let device)): return update(device)
    case .device(.removed(let path)): return remove(path)
    case .listed(let found): return list(found)
    case .opened(let id, let device): return opened(id, device)
    case .failed(let id, let obstacle):
      readers[id]?.obstacle = obstacle
      return []
    case .configured(let names): return configure(names)
    }
  }

  /// The reader that is the device with this path.
  func reader(at path: String) -> Int? { readers.first { $0.value.path == path }?.key }

  // MARK: Readers

  /// A reader that stays whether or not its device is there.
  private mutating func add(_ name: String) -> [Action] {
    let meant = devices.values.sorted { $0.path < $1.path }.filter { means(name, $0) }
    let free = meant.first { !isHeld($0) }
    let holder = free == nil ? meant.first.flatMap { reader(at: $0.path) } : nil
    guard let holder = holder ?? reader(behind: name), readers.count < Self.most else {
      return add(name, free, stays: true)
    }
    let id = next
    next += 1
    readers[id] = Reader(
      device: name, seat: readers[holder]?.seat ?? DaemonState.defaultSeat, stays: true, seeks: false,
      isFollowed: hasUdev && ReaderAddress(name).isUdevs)
    return [.show(id, device: name, seat: readers[id]?.seat ?? DaemonState.defaultSeat), refuse(id, for: holder)]
  }

  /// Two processes at one device would take it from each other for ever.
  private mutating func refuse(_ id: Int, for holder: Int) -> Action {
    readers[id]?.isRefused = true
    readers[id]?.target = nil
    let other = readers[holder]?.device ?? "another reader"
    return .refuse(id, reason: "its device is \(other) already: name each device once in Devices")
  }

  /// The reader whose file is the one that a connection string means.
  private func reader(behind name: String) -> Int? {
    guard case .file(let path) = ReaderAddress(name) else { return nil }
    let file = resolve(path) ?? path
    return readers.sorted { $0.key < $1.key }.first { _, reader in
      guard !reader.isRefused, let device = reader.device, case .file(let other) = ReaderAddress(device) else {
        return false
      }
      return (resolve(other) ?? other) == file
    }?.key
  }

  /// Whether a name may mean one of several devices.
  private func isLoose(_ name: String) -> Bool {
    guard case .usb(let parts) = ReaderAddress(name) else { return false }
    return parts.count < 3
  }

  /// What a process is started with to open a device and no other. libnfc takes the first in its own order where a name
  /// means several, and the seat has to be the one of the device that is opened.
  private func narrowed(_ name: String, to device: Device?) -> String {
    guard let device, isLoose(name) else { return name }
    return USBReaderModel.connectionString(of: device) ?? name
  }

  private mutating func add(_ name: String?, _ device: Device?, stays: Bool) -> [Action] {
    guard readers.count < Self.most else {
      defer { isFull = true }
      return isFull ? [] : [.log(.warning, "there are \(Self.most) readers already: others are not used")]
    }
    let id = next
    next += 1
    let target = name.map { narrowed($0, to: device) }
    let reader = Reader(
      device: name, seat: device?.seat ?? DaemonState.defaultSeat, path: device?.path, stays: stays, seeks: name == nil,
      isFollowed: hasUdev && (device != nil || name.map { ReaderAddress($0).isUdevs } == true),
      target: target)
    readers[id] = reader
    guard let name, let target else { return [.start(id, device: nil)] }
    // The process is there before anybody can want it to scan.
    let isAway = reader.isFollowed && device == nil
    return [.start(id, device: target), .show(id, device: name, seat: reader.seat)] + (isAway ? [.away(id, true)] : [])
  }

  private mutating func list(_ found: [String]) -> [Action] {
    guard listing != .nothing else { return [] }
    // udev tells of those on USB, and of their coming and going.
    if hasUdev { return found.filter { !ReaderAddress($0).isUSB }.flatMap { add($0) } }
    let actions = LastingDevice.names(of: found).flatMap { add($0) }
    return readers.isEmpty ? add(nil, nil, stays: true) : actions
  }

  private mutating func opened(_ id: Int, _ device: String) -> [Action] {
    guard let reader = readers[id] else { return [] }
    readers[id]?.obstacle = nil
    guard reader.seeks, reader.device != device else { return [] }
    // Another device is another reader.
    readers[id]?.device = device
    return (reader.device == nil ? [] : [.hide(id)]) + [.show(id, device: device, seat: reader.seat)]
  }

  // MARK: Devices

  /// Takes in what a device is now.
  private mutating func update(_ device: Device, isNew: Bool = false) -> [Action] {
    var actions: [Action] = []
    if let before = devices[device.path], before.usb?.number != device.usb?.number || before.node != device.node {
      // It was unplugged and plugged in again, and the first of the two was never heard of.
      actions += remove(device.path)
    }
    devices[device.path] = device
    guard let id = reader(at: device.path) else { return actions + attach(device) }
    actions += move(id, to: device)
    let isFree = readers[id]?.obstacle?.isGone(from: device) == true
    if isFree { readers[id]?.obstacle = nil }
    return isNew || isFree ? actions + [.look(id)] : actions
  }

  /// Gives a device to a reader that waits for it, or makes it one.
  private mutating func attach(_ device: Device) -> [Action] {
    let waiting = readers.sorted { $0.key < $1.key }.filter { _, reader in
      reader.path == nil && reader.stays && reader.device.map { means($0, device) } == true
    }
    let exact = waiting.filter { $0.value.device.map { !isLoose($0) } == true }
    guard let (id, reader) = exact.first ?? waiting.first, let name = reader.device else {
      guard configured.isEmpty, let name = USBReaderModel.connectionString(of: device) else { return [] }
      return add(name, device, stays: false)
    }
    let target = narrowed(name, to: device)
    readers[id]?.path = device.path
    readers[id]?.isFollowed = true
    readers[id]?.isRefused = false
    readers[id]?.target = target
    var actions: [Action] = []
    for (other, reader) in exact where other != id && !reader.isRefused {
      actions += [.stop(other), refuse(other, for: id)]
    }
    actions += move(id, to: device)
    let isOpenedAnew = reader.isRefused || reader.target != target
    if isOpenedAnew { actions.append(reader.isRefused ? .start(id, device: target) : .restart(id, device: target)) }
    if reader.isFollowed { actions.append(.away(id, false)) }
    return isOpenedAnew ? actions : actions + [.look(id)]
  }

  private mutating func move(_ id: Int, to device: Device) -> [Action] {
    let seat = device.seat ?? DaemonState.defaultSeat
    guard readers[id]?.seat != seat else { return [] }
    readers[id]?.seat = seat
    return [.move(id, seat: seat)]
  }

  private mutating func remove(_ path: String) -> [Action] {
    devices[path] = nil
    guard let id = reader(at: path), let reader = readers[id] else { return [] }
    guard reader.stays else {
      readers[id] = nil
      return [.stop(id), .hide(id)] + takeLeftOut()
    }
    readers[id]?.path = nil
    readers[id]?.obstacle = nil
    // `pn53x_usb` may mean another one that is there.
    let other = devices.values.sorted { $0.path < $1.path }.first { device in
      !isHeld(device) && reader.device.map { means($0, device) } == true
    }
    let actions = other.map { attach($0) } ?? []
    return readers[id]?.path == nil ? [.away(id, true), .look(id)] + actions : actions
  }

  /// Makes readers of devices for which there was no room.
  private mutating func takeLeftOut() -> [Action] {
    guard isFull else { return [] }
    var actions: [Action] = []
    for device in devices.values.sorted(by: { $0.path < $1.path }) where !isHeld(device) {
      guard readers.count < Self.most else { return actions }
      actions += attach(device)
    }
    isFull = readers.count >= Self.most
    return actions
  }

  private func isHeld(_ device: Device) -> Bool { reader(at: device.path) != nil }

  private func means(_ name: String, _ device: Device) -> Bool {
    ReaderAddress(name).means(device, resolve: resolve)
  }
}
