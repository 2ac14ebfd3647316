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
  }

  enum Action: Hashable, Sendable {
    /// A reader is there; show it to clients.
    case show(Int, device: String, seat: String)
    /// Start a process for it; without a device it takes the first that libnfc finds.
    case start(Int, device: String?)
    /// It is away: end its process.
    case stop(Int)
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
    let stays: Bool
    /// Whether its process takes whatever libnfc finds first.
    let seeks: Bool
    /// Whether udev tells when its device comes or goes.
    var isFollowed: Bool
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

  let listing: Listing
  private(set) var readers: [Int: Reader] = [:]
  private let configured: [String]
  private let hasUdev: Bool
  private let resolve: @Sendable (String) -> String?
  private var devices: [String: Device] = [:]
  private var next = 0
  private var isFull = false

  /// - Parameters:
  ///   - configured: the connection strings of the configuration.
  ///   - hasUdev: whether udev tells of devices.
  ///   - resolve: follows the links of a path, as realpath(3) does.
  init(configured: [String], hasUdev: Bool, resolve: @escaping @Sendable (String) -> String? = { $0 }) {
    self.configured = configured
    self.hasUdev = hasUdev
    self.resolve = resolve
    listing = configured.isEmpty ? (hasUdev ? .named : .everything) : .nothing
  }

  mutating func handle(_ event: Event) -> [Action] {
    switch event {
    case .start: return configured.flatMap { add($0) }
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
    }
  }

  /// The reader that is the device with this path.
  func reader(at path: String) -> Int? { readers.first { $0.value.path == path }?.key }

  // MARK: Readers

  /// A reader that stays whether or not its device is there.
  private mutating func add(_ name: String) -> [Action] {
    add(name, devices.values.sorted { $0.path < $1.path }.first { !isHeld($0) && means(name, $0) }, stays: true)
  }

  private mutating func add(_ name: String?, _ device: Device?, stays: Bool) -> [Action] {
    guard readers.count < Self.most else {
      defer { isFull = true }
      return isFull ? [] : [.log(.warning, "there are \(Self.most) readers already: others are not used")]
    }
    let id = next
    next += 1
    let reader = Reader(
      device: name, seat: device?.seat ?? DaemonState.defaultSeat, path: device?.path, stays: stays, seeks: name == nil,
      isFollowed: hasUdev && (device != nil || name.map { ReaderAddress($0).isUdevs } == true))
    readers[id] = reader
    guard let name else { return [.start(id, device: nil)] }
    // The process is there before anybody can want it to scan.
    let isAway = reader.isFollowed && device == nil
    return [.start(id, device: name), .show(id, device: name, seat: reader.seat)] + (isAway ? [.away(id, true)] : [])
  }

  private mutating func list(_ found: [String]) -> [Action] {
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
    let waiting = readers.sorted { $0.key < $1.key }.first { _, reader in
      reader.path == nil && reader.stays && reader.device.map { means($0, device) } == true
    }
    guard let id = waiting?.key else {
      guard configured.isEmpty, let name = USBReaderModel.connectionString(of: device) else { return [] }
      return add(name, device, stays: false)
    }
    let wasAway = readers[id]?.isFollowed == true
    readers[id]?.path = device.path
    readers[id]?.isFollowed = true
    return move(id, to: device) + (wasAway ? [.away(id, false)] : []) + [.look(id)]
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
      isFull = false
      return [.stop(id), .hide(id)]
    }
    readers[id]?.path = nil
    readers[id]?.obstacle = nil
    // `pn53x_usb` may mean another one that is there.
    let other = devices.values.sorted { $0.path < $1.path }.first { device in
      !isHeld(device) && reader.device.map { means($0, device) } == true
    }
    return other.map { attach($0) } ?? [.away(id, true), .look(id)]
  }

  private func isHeld(_ device: Device) -> Bool { reader(at: device.path) != nil }

  private func means(_ name: String, _ device: Device) -> Bool {
    ReaderAddress(name).means(device, resolve: resolve)
  }
}
