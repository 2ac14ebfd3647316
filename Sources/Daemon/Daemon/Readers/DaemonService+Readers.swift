import Bus
import EventLoop
import Glibc
import Journal
import Names
import ReaderProtocol
import Settings

/// Starts and stops the reader processes, and receives their events.
extension DaemonService {
  /// Starts a process for each reader, also for readers that appear later.
  func startReaders(_ program: String) {
    let devices = watchDevices()
    loadKnownTags()
    readerProgram = program
    pcsc.program = Self.program(Names.Files.pcscReaderProgram)
    roster = ReaderRoster(
      configured: configuration.devices, backend: configuration.backend, support: pcscSupport(),
      hasUdev: devices != nil, hasSystemd: directories.hasSystemd, resolve: Self.resolve)
    if let devices { perform(roster.handle(.device(.present(devices)))) }
    perform(roster.handle(.start))
    listReaders()
  }

  /// Asks libnfc for readers, unless the configuration names them.
  func listReaders() {
    listings += 1
    guard roster.listing != .nothing else { return }
    let (number, isToLook, program) = (listings, roster.listing == .everything, readerProgram)
    Task { [weak self, loop, log] in
      // libnfc does not find a device that a stopped process still has open.
      await self?.untilLeft()
      var found: [String] = []
      do throws(ReaderDiscovery.Failure) {
        found = try await ReaderDiscovery.devices(program: program, lookingForMore: isToLook, on: loop)
      } catch {
        log(.warning, "cannot ask libnfc for readers: \(error)")
      }
      await self?.list(found, number)
    }
  }

  private func list(_ found: [String], _ number: Int) {
    guard !isStopped, number == listings else { return }
    perform(roster.handle(.listed(found)))
  }

  /// Waits for the end of the stopped processes.
  func untilLeft() async {
    for unit in Array(leaving.values) { await unit.process.stop() }
  }

  private func loadKnownTags() {
    let result = "the daemon announces tags that are still on a reader again"
    do throws(SystemError) {
      if try !knownTags.load() { log(.warning, "the file of known tags is damaged: \(result)") }
    } catch {
      log(.warning, "\(error): \(result)")
    }
  }

  func keep(_ known: KnownTags, on place: String) {
    do throws(SystemError) {
      try knownTags.keep(known, on: place)
    } catch {
      log(.debug, "\(error): after a restart the daemon announces tags that are still on a reader again")
    }
  }

  /// Carries out the actions of the roster, in order.
  func perform(_ actions: [ReaderRoster.Action]) {
    for action in actions {
      switch action {
      case .show(let id, let device, let seat): show(id, device: device, seat: seat)
      case .hide(let id): hide(id)
      case .start(let id, let device): startProcess(id, device: device)
      case .stop(let id): stopProcess(id)
      case .look(let id): units[id]?.process.assumeIsolated { $0.lookForDevice() }
      case .move(let id, let seat): handle(.readerMoved(id, seat: seat))
      case .away(let id, let isAway): setAway(id, isAway)
      case .restart(let id, let device): restartProcess(id, device: device)
      case .refuse(let id, let reason):
        handle(.reader(id, .phase(.failed(reason: reason), reached: nil)))
        handle(.readerHasNoProcess(id))
      case .log(let level, let text): log(level, text)
      }
    }
    followPCSCD()
  }

  /// Makes the readers show themselves whose taps the calling agent gets.
  func identifyReaders(_ call: IncomingCall) throws -> [Value] {
    let seats = Set(state.readers.values.map(\.properties.seat) + [DaemonState.defaultSeat]).filter {
      state.seat($0).agent?.sender == call.sender
    }
    guard !seats.isEmpty else {
      throw BusError.notAuthorized("only the agent that gets the taps can make the readers show themselves")
    }
    for (id, unit) in units where roster.readers[id]?.isPCSC == true {
      guard let reader = state.readers[id], seats.contains(reader.properties.seat) else { continue }
      unit.process.assumeIsolated { $0.identify() }
    }
    return []
  }

  /// The environment of every program that the daemon starts.
  var readerEnvironment: [String] { ["PATH=/usr/bin:/bin", "LANG=C.UTF-8"] }

  private func startProcess(_ id: Int, device: String?) {
    let place = device ?? ""
    let isPCSC = device?.hasPrefix(Names.PCSC.devicePrefix) == true
    let pcscProgram = pcsc.program ?? "\(Names.Files.libexec)/\(Names.Files.pcscReaderProgram)"
    let process = ReaderProcess(
      .init(
        program: isPCSC ? pcscProgram : readerProgram, device: device,
        isFollowed: roster.readers[id]?.isFollowed == true,
        environment: readerEnvironment + (isPCSC ? pcsc.environment : [])),
      known: knownTags.known(on: place), on: loop)
    let task = Task { [weak self] in
      for await event in process.events { await self?.receive(event, from: id, process) }
    }
    units[id] = ReaderUnit(process: process, task: task, place: place)
    let reader = state.readers[id]
    // A new reader at the port of a lent one is lent too: the program may have reset its reader, which is a replug. The
    // new reader has no state yet. A reader that already has a state keeps its goal.
    let isReleased = roster.readers[id]?.path.flatMap { inhibitors.inhibitor(releasingDeviceAt: $0) } != nil
    process.assumeIsolated {
      // Send the goal before the process can open the device.
      $0.pursue(reader?.epoch ?? 0, reader?.goal ?? (isReleased ? .lent : .off))
      $0.start()
    }
  }

  private func restartProcess(_ id: Int, device: String) {
    stopProcess(id)
    startProcess(id, device: device)
    guard state.readers[id]?.isReady == true else { return }
    handle(.reader(id, .phase(.absent(reason: "switching to another device"), reached: nil)))
  }

  private func setAway(_ id: Int, _ isAway: Bool) {
    handle(.readerAway(id, isAway))
    guard let unit = units[id], let reported = unit.reported, state.readers[id]?.isReady == false else { return }
    handle(.reader(id, .phase(explained(reported, of: id), reached: unit.reached)))
  }

  /// Stops the process of a reader, and ignores its events from here. The daemon ends only after the process.
  private func stopProcess(_ id: Int) {
    guard let unit = units.removeValue(forKey: id) else { return }
    unit.task.cancel()
    handle(.readerHasNoProcess(id))
    abandonOperations(at: id)
    leaving[ObjectIdentifier(unit.process)] = unit
    Task { [weak self] in
      await self?.end(unit.process)
      await self?.left(unit.process)
    }
  }

  private func left(_ process: ReaderProcess) { leaving[ObjectIdentifier(process)] = nil }

  /// Ends a process for good. A process that hangs inside the kernel cannot be ended.
  func end(_ process: ReaderProcess) async {
    guard await !process.stop() else { return }
    log(.warning, "a reader process was killed but has not ended, because a kernel driver hangs: unplug the reader")
  }

  private func receive(_ event: ReaderProcessEvent, from id: Int, _ process: ReaderProcess) {
    // Ignore the events of a stopped process.
    guard units[id]?.process === process else { return }
    switch event {
    case .tag(let report, let epoch):
      handle(.tag(id, report, epoch: epoch, id: DetectedTap.makeID(), time: Self.microsecondsSince1970()))
    case .known(let known): if let unit = units[id] { keep(known, on: unit.place) }
    case .phase(let phase, let reached):
      switch phase {
      case .ready(_, let device):
        perform(roster.handle(.opened(id, device: device)))
        guard units[id]?.process === process else { return }
        units[id]?.opened = device
      case .absent, .failed: units[id]?.opened = nil
      case .opening, .scanning, .inSession, .released: break
      }
      units[id]?.reported = phase
      units[id]?.reached = reached
      handle(.reader(id, .phase(explained(phase, of: id), reached: reached)))
      if state.readers[id]?.isLent == true { wakeLoanWaiters(id) }
    case .performed(let request, let result): finish(request, result)
    case .progress(let request, let bytes): progress(request, bytes)
    default: handle(.reader(id, event))
    }
  }

  /// Follows the links of a path.
  private static func resolve(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(validatingCString: resolved)
  }

  static func microsecondsSince1970() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return UInt64(clamping: time.tv_sec) &* 1_000_000 &+ UInt64(clamping: time.tv_nsec / 1000)
  }
}

extension DaemonService {
  func show(_ id: Int, device: String, seat: String) {
    guard let path = try? ObjectPath("\(Names.Daemon.readersPath)/\(id)") else { return }
    handle(.readerAdded(id, path: path, device: device, seat: seat, identity: roster.identity(ofDevice: device)))
    do {
      let interface = readerInterface(id)
      try connection?.assumeIsolated { try $0.export([interface], at: path) }
    } catch {
      log(.error, "cannot export reader \(device) on the bus: \(error)")
    }
    guard let place = roster.readers[id]?.path, let inhibitor = inhibitors.inhibitor(releasingDeviceAt: place) else {
      return
    }
    inhibitors.release(id, at: place, with: inhibitor.id)
    handle(.release(id, true))
  }

  func hide(_ id: Int) {
    guard let path = state.readers[id]?.path else { return }
    connection?.assumeIsolated { $0.unexport(path) }
    published[path] = nil
    inhibitors.forget(id)
    handle(.readerRemoved(id))
    wakeLoanWaiters(id)
  }

  private func readerInterface(_ id: Int) -> ExportedInterface {
    func property(
      _ name: String, _ signature: Signature, emits: ExportedProperty.ChangeSignal = .changed
    ) -> ExportedProperty {
      ExportedProperty(name, signature, emits: emits) { [weak self] _ in
        // Without the reader, the type is wrong, and the caller gets an error.
        await self?.state.readers[id]?.properties.values[name] ?? .boolean(false)
      }
    }
    return ExportedInterface(
      Names.Daemon.readerInterface,
      properties: [
        property("Name", "s"), property("Device", "s", emits: .const), property("Seat", "s"), property("State", "s"),
        property("StateReason", "s"), property("Technologies", "as"), property("Counters", "a{st}", emits: .none),
      ])
  }
}
