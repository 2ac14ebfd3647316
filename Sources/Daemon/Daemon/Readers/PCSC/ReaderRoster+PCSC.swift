import Names
import ReaderProtocol
import Settings

/// Readers that pcscd drives: which of its list are used, on which seat, and which devices are missing in it.
extension ReaderRoster {
  struct PCSCList: Hashable, Sendable {
    /// Nil until the first list.
    private(set) var readers: [PCSCReader]?
    /// Why it gives no list at present; nil if it does. The last list may be out of date then.
    var problem: PCSCProblem?
    /// The entries of `awaited` that took too long.
    var overdue: Set<String> = []
    /// The readers of the list whose device was unplugged. pcscd drops them in a moment.
    var departed: Set<PCSCReader> = []

    /// Whether the daemon need not wait for the list any longer.
    var isKnown: Bool { readers != nil || problem != nil || overdue.contains(ReaderRoster.awaitedList) }

    mutating func take(_ list: [PCSCReader]) {
      (readers, problem) = (list, nil)
      departed.formIntersection(list)
    }

    func has(_ name: String) -> Bool { readers?.contains { $0.name == name } == true }
  }

  /// The device of a reader in pcscd's list.
  enum Home: Hashable, Sendable {
    case device(Device)
    /// The list names a USB device that is not present: udev reports it in a moment, or pcscd drops it in a moment.
    case pending
    /// udev does not know it, or several devices are alike.
    case unknown
  }

  /// The entry of `awaited` that is not a path.
  fileprivate static let awaitedList = "list"

  /// Whether the daemon has to ask pcscd for its list. That starts pcscd, and keeps it running.
  var needsPCSCList: Bool {
    guard support.obstacle == nil, backend != .libnfc else { return false }
    guard configured.isEmpty else {
      // A named reader waits for its device by itself. The list tells its seat, and two names of one reader apart.
      let count = configured.count { $0.hasPrefix(Names.PCSC.devicePrefix) }
      return count > (hasUdev ? 0 : 1)
    }
    return !hasUdev || support.isElsewhere || choices.values.contains(.pcsc)
  }

  /// What pcscd's list should show in a moment: itself, and the paths of devices. Empty if nothing is missing.
  var awaited: Set<String> {
    guard configured.isEmpty, needsPCSCList, pcscList.problem == nil else { return [] }
    let paths = choices.keys.filter { path in choices[path] == .pcsc && devices[path].map(isServed) == false }
    let list = pcscList.readers == nil ? [Self.awaitedList] : []
    return Set(paths + list).subtracting(pcscList.overdue)
  }

  static func key(ofSlot name: String) -> String { Names.PCSC.devicePrefix + name }

  // MARK: The list

  /// If no configuration names readers.
  private var usableSlots: [PCSCReader] {
    guard needsPCSCList, let all = pcscList.readers else { return [] }
    return all.filter { ContactlessReaders.isUsable($0, among: all) && home(of: $0) != .pending }
  }

  /// Nil if the numbers of the reader with this device string are not known.
  func identity(ofDevice device: String) -> PCSCReader.Identity? {
    guard let name = Names.PCSC.readerName(inDevice: device) else { return nil }
    return pcscList.readers?.first { Names.PCSC.means(name, $0.name) }?.identity
  }

  func home(of slot: PCSCReader) -> Home {
    if let place = slot.place {
      let device = sortedDevices.first { device in
        guard let usb = device.usb, (usb.bus, usb.number) == (place.bus, place.number) else { return false }
        // Elsewhere, another device may have the same number.
        return !support.isElsewhere || slot.identity.map { $0 == PCSCReader.Identity(usb) } ?? true
      }
      return device.map(Home.device) ?? absence(of: slot)
    }
    guard let identity = slot.identity else { return .unknown }
    let alike = sortedDevices.filter { $0.usb.map(PCSCReader.Identity.init) == identity }
    guard let device = alike.first else { return absence(of: slot) }
    guard alike.count > 1 else { return .device(device) }
    // The first reader of two alike had a device before the second one came. The second one then has the other device.
    let others = Set(readers.values.filter { $0.slot != slot.name && $0.slot.map(pcscList.has) == true }.map(\.path))
    let own = readers.values.first { $0.slot == slot.name }?.path
    let free = alike.filter { own == nil ? !others.contains($0.path) : own == $0.path }
    return free.count == 1 ? .device(free[0]) : .unknown
  }

  /// Without udev, no device is known. A pcscd that runs elsewhere, or serves simulated readers, may have others.
  private func absence(of slot: PCSCReader) -> Home {
    hasUdev && (!support.isElsewhere || pcscList.departed.contains(slot)) ? .pending : .unknown
  }

  func slots(of device: Device) -> [PCSCReader] {
    pcscList.readers?.filter { self.device(of: $0) == device } ?? []
  }

  private func device(of slot: PCSCReader) -> Device? {
    if case .device(let device) = home(of: slot) { device } else { nil }
  }

  func isListed(_ device: Device) -> Bool { usableSlots.contains { self.device(of: $0) == device } }

  /// Whether libnfc's connection string `driver:bus:number` means a reader of pcscd's list. For a system without udev.
  func isListed(asUSB name: String) -> Bool {
    guard case .usb(let parts) = ReaderAddress(name) else { return false }
    let numbers = parts.dropFirst().map { Int($0) }
    return usableSlots.contains { slot in
      if let place = slot.place { return numbers == [place.bus, place.number] }
      return USBReaderModel.all.contains {
        $0.driver == parts.first && slot.identity == PCSCReader.Identity(vendor: $0.vendor, product: $0.product)
      }
    }
  }

  /// Whether pcscd lists this device, or a reader that may be it.
  private func isServed(_ device: Device) -> Bool {
    usableSlots.contains { slot in
      guard slot.place == nil else { return self.device(of: slot) == device }
      return slot.identity == nil || slot.identity == device.usb.map(PCSCReader.Identity.init)
    }
  }

  // MARK: The readers

  /// If no configuration names readers.
  func pcscReaders() -> [Reader] {
    usableSlots.map { slot in
      let (name, device) = (Self.key(ofSlot: slot.name), device(of: slot))
      return Reader(
        device: name, seat: device.map(seat) ?? Seats.defaultSeat, path: device?.path, stays: false, target: name,
        slot: slot.name)
    }
  }

  /// The contactless readers that no program can drive, or that pcscd does not list.
  func undrivenReaders() -> [Reader] {
    sortedDevices.compactMap { device in
      guard let usb = device.usb, let obstacle = obstacle(to: device) else { return nil }
      let title = ContactlessReaders.title(of: usb, driverName: support.driverName(of: usb))
      return Reader(
        device: USBReaderModel.undrivenDevice(usb), seat: seat(of: device), path: device.path, stays: false,
        refusal: .undriven(obstacle.reason(for: usb, title: title, hasSystemd: hasSystemd)))
    }
  }

  private func obstacle(to device: Device) -> PCSCObstacle? {
    guard let choice = choices[device.path], choice != .libnfc, !isServed(device) else { return nil }
    if case .nobody(let obstacle) = choice { return obstacle }
    if let obstacle = support.obstacle { return obstacle }
    if let problem = pcscList.problem { return .problem(problem) }
    guard pcscList.overdue.contains(device.path) || pcscList.readers == nil && pcscList.isKnown else { return nil }
    return .notListed(module: device.usb.flatMap(ReaderObstacle.module(holding:)))
  }

  /// The reader with the name `wanted` for pcscd, which the configuration names as `name`, and which stays. Its process
  /// waits for it by itself, and understands a name without numbers. So the process gets another name only if that name
  /// means several readers of the list.
  func pcscReader(_ wanted: String, _ name: String, after before: Reader?, _ holders: inout Holders) -> Reader {
    let meant = pcscList.readers?.filter { Names.PCSC.means(wanted, $0.name) } ?? []
    let own = meant.first { $0.name == before?.slot }
    let slot = own ?? meant.first { self.holder(of: $0, holders) == nil }
    let holder = slot == nil ? meant.first.flatMap { self.holder(of: $0, holders) } : nil
    var reader = before ?? Reader(device: name, seat: holder?.seat ?? Seats.defaultSeat)
    reader.slot = slot?.name
    reader.refusal = holder.map(Refusal.init(holder:)) ?? (slot == nil ? before?.refusal : nil)
    guard !reader.isRefused else {
      (reader.path, reader.target) = (nil, nil)
      return reader
    }
    let device = slot.flatMap { self.device(of: $0) }
    reader.path = device?.path
    if slot != nil { reader.seat = device.map(seat) ?? Seats.defaultSeat }
    let exact = slot.map { Self.key(ofSlot: $0.name) }
    reader.target = meant.isEmpty ? before?.target ?? name : meant.count > 1 || before?.target == exact ? exact : name
    for key in [reader.path, exact].compactMap(\.self) { holders[key] = reader }
    return reader
  }

  /// The reader that already has `slot`, or has its device through libnfc.
  private func holder(of slot: PCSCReader, _ holders: Holders) -> Reader? {
    if let holder = holders[Self.key(ofSlot: slot.name)] { return holder }
    guard let path = device(of: slot)?.path, let holder = holders[path], !holder.isPCSC else { return nil }
    return holder
  }
}

/// Which library drives a USB reader, so that it never has two. Pure.
///
/// The daemon chooses when the reader is plugged in, and again when it reads the configuration. At other times, a
/// program may be using the reader.
///
/// - `auto`: `pcsc` if pcscd can be used and has a driver, else `libnfc` if libnfc has one, else `nobody`.
/// - `libnfc`: `libnfc` if it has a driver, else the reader is ignored.
/// - `pcsc`: `pcsc` if pcscd can be used and has a driver, else `nobody`.
enum BackendChoice: Hashable, Sendable {
  case libnfc
  case pcsc
  /// The reader is shown with the reason.
  case nobody(PCSCObstacle)

  /// Nil if the device is no contactless reader, or if the administrator has excluded it.
  init?(_ device: Device, _ backend: DaemonConfiguration.Backend, _ support: PCSCSupport) {
    guard let usb = device.usb else { return nil }
    let hasLibnfc = USBReaderModel.connectionString(of: device) != nil
    let driverName = support.driverName(of: usb)
    // A Touchatag has the numbers of a contact reader, and the same name in pcscd.
    let isPCSCReader = ContactlessReaders.isReader(usb, driverName: driverName)
    guard hasLibnfc || isPCSCReader else { return nil }
    let hasPCSC = support.obstacle == nil && driverName != nil && isPCSCReader
    switch backend {
    case .auto where hasPCSC, .pcsc where hasPCSC: self = .pcsc
    case .auto where hasLibnfc, .libnfc where hasLibnfc: self = .libnfc
    case .auto, .pcsc: self = .nobody(support.obstacle ?? .noDriver(hasOthers: !support.drivers.isEmpty))
    case .libnfc: return nil
    }
  }
}
