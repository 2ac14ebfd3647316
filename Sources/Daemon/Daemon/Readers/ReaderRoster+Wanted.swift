import Names

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

  /// The readers, each with the number of the present reader that it continues.
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

  /// The USB readers that libnfc drives.
  private func libnfcReaders() -> [Reader] {
    sortedDevices.compactMap { device in
      // If pcscd lists the device, it has the device, whatever its drivers' tables say.
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
    var reader = before ?? Reader(device: name, seat: holder?.seat ?? DaemonState.defaultSeat)
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

  func seat(of device: Device) -> String { device.seat ?? DaemonState.defaultSeat }

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
