import Bus
import EventLoop
import Glibc
import Journal
import Names
import ReaderProtocol
import Settings

/// The readers of the machine: finds them, starts and stops their processes, and shows them to clients. What a process
/// reports goes on to the daemon's state, and the result of an operation to the client that waits for it.
@DaemonLoop final class Readers {
  /// The kinds of devices behind which libnfc finds readers: USB, serial lines, SPI and I2C.
  private static let subsystems = ["i2c-dev", "spidev", "tty", "usb"]
  private static let withoutUdev =
    "tagrouted looks for USB readers when it starts, and later only if it has found none"
  /// For every program that the daemon starts.
  private static let environment = ["PATH=/usr/bin:/bin", "LANG=C.UTF-8"]

  private let core: DaemonCore
  private let processes: ReaderProcesses
  private let operations: TagOperations
  private let loans: ReaderLoans
  private let pcsc: PCSCAccess
  private var roster = ReaderRoster(configured: [], hasUdev: false)
  private var program = ""
  /// The number of the last question to libnfc about readers. Answers to earlier questions are ignored.
  private var listings = 0
  private var deviceMonitor: DeviceMonitor?

  init(_ core: DaemonCore, _ processes: ReaderProcesses, _ operations: TagOperations, _ loans: ReaderLoans) {
    (self.core, self.processes, self.operations, self.loans) = (core, processes, operations, loans)
    pcsc = PCSCAccess(core.directories)
  }

  /// Readers that appear later get a process, too. `program` is the path of `tagroute-reader`.
  func start(_ program: String, _ configuration: DaemonConfiguration) {
    let devices = watchDevices()
    processes.loadKnownTags()
    self.program = program
    pcsc.findProgram()
    roster = ReaderRoster(
      configured: configuration.devices, backend: configuration.backend, support: pcsc.support(),
      hasUdev: devices != nil, hasSystemd: core.directories.hasSystemd, resolve: Self.resolve)
    if let devices { perform(roster.handle(.device(.present(devices)))) }
    perform(roster.handle(.start))
    list()
  }

  /// Follows a new configuration. pcscd or a driver of it may have been installed since, too.
  func update(_ configuration: DaemonConfiguration) {
    let listing = (roster.listing, roster.configured)
    pcsc.findProgram()
    perform(roster.handle(.configured(configuration.devices, configuration.backend, pcsc.support())))
    pcsc.retryAtOnce()
    if listing != (roster.listing, roster.configured) { list() }
  }

  /// Ends all processes, so that every field is off.
  func stop() async {
    let watch = pcsc.stopWatch()
    await deviceMonitor?.stop()
    await processes.stopAll()
    await watch?.stop()
  }

  /// Including stopped ones that have not ended yet.
  var haveProcesses: Bool { processes.areLeft }

  /// Sends the goal to the reader's process.
  func pursue(_ epoch: UInt64, _ goal: ReaderGoal, by id: Int) {
    guard let process = processes[id]?.process else { return core.handle(.readerHasNoProcess(id)) }
    process.assumeIsolated { $0.pursue(epoch, goal) }
  }

  /// Nil while udev reports no device.
  func devicePath(of id: Int) -> String? { roster.readers[id]?.path }

  /// Only the readers whose taps the calling agent gets.
  func identify(_ call: IncomingCall) throws -> [Value] {
    let readers = core.state.readers.all
    let seats = Set(readers.values.map(\.properties.seat) + [Seats.defaultSeat]).filter {
      core.state.seats.seat($0).agent?.sender == call.sender
    }
    guard !seats.isEmpty else {
      throw BusError.notAuthorized("only the agent that gets the taps can make the readers show themselves")
    }
    for (id, reader) in readers where roster.readers[id]?.isPCSC == true && seats.contains(reader.properties.seat) {
      processes[id]?.process.assumeIsolated { $0.identify() }
    }
    return []
  }

  // MARK: Finding readers

  /// Returns the present devices; nil if udev does not report them.
  private func watchDevices() -> [Device]? {
    // The control socket of systemd-udevd exists while it runs.
    guard runtimeFileExists("udev/control") else {
      core.log(.notice, "udev does not run: \(Self.withoutUdev)")
      return nil
    }
    do throws(SystemError) {
      let monitor = try DeviceMonitor(subsystems: Self.subsystems, on: DaemonLoop.loop) { [weak self] event in
        DaemonLoop.assumeIsolated { self?.receive(event) }
      }
      let devices = try monitor.assumeIsolated { monitor in
        Result { () throws(SystemError) in try monitor.start() }
      }.get()
      deviceMonitor = monitor
      return devices
    } catch {
      core.log(.warning, "\(error): \(Self.withoutUdev)")
      return nil
    }
  }

  private func receive(_ event: DeviceEvent) {
    guard !core.isStopped else { return }
    if case .removed(let path) = event, let id = roster.reader(at: path) {
      // Forget the known tags: a tag on the next reader in this port is a new one.
      processes.keep(KnownTags(), of: id)
    }
    if case .added(let device) = event, let usb = device.usb, ContactlessReaders.mayBeReader(usb) {
      // pcscd may drive the device, and may just have been installed.
      perform(roster.handle(.pcscd(pcsc.support())))
      pcsc.retryAtOnce()
    }
    perform(roster.handle(.device(event)))
    // The obstacle may have changed. The process cannot see it, and does not report the same failure again. So update
    // the reason here.
    guard let device = event.device, let id = roster.reader(at: device.path), let unit = processes[id],
      let reported = unit.reported
    else { return }
    let before = roster.readers[id]?.obstacle
    var obstacle = obstacle(to: id)
    // The claim may come from the daemon's own reader process, which is trying again.
    if case .program = obstacle, before != obstacle { obstacle = nil }
    core.handle(.reader(id, .phase(explained(reported, of: id, by: obstacle), reached: unit.reached)))
  }

  /// Not if the configuration names the readers.
  private func list() {
    listings += 1
    guard roster.listing != .nothing else { return }
    let (number, isToLook, program) = (listings, roster.listing == .everything, program)
    Task { [weak self, processes, core] in
      // libnfc does not find a device that a stopped process still has open.
      await processes.untilLeft()
      var found: [String] = []
      do throws(ReaderDiscovery.Failure) {
        found = try await ReaderDiscovery.devices(program: program, lookingForMore: isToLook, on: DaemonLoop.loop)
      } catch {
        core.log(.warning, "cannot ask libnfc for readers: \(error)")
      }
      guard let self, !core.isStopped, number == self.listings else { return }
      self.perform(self.roster.handle(.listed(found)))
    }
  }

  // MARK: pcscd

  /// Starts or stops asking pcscd for its list, as the roster needs it.
  private func followPCSCD() {
    guard !core.isStopped else { return }
    if roster.needsPCSCList {
      pcsc.startWatch(after: processes, base: Self.environment) { [weak self] in self?.receive($0) }
    } else if pcsc.stopWatch() != nil {
      perform(roster.handle(.pcscUnwatched))
    }
    pcsc.expect(roster.awaited) { [weak self] in
      guard let self, !self.core.isStopped else { return }
      self.perform(self.roster.handle(.waited))
    }
  }

  private func receive(_ event: PCSCWatch.Event) {
    guard !core.isStopped else { return }
    switch event {
    case .readers(let list):
      core.log(.debug, "pcscd lists \(list.count) readers: \(list.map(\.name).joined(separator: ", "))")
      forgetTags(onReadersMissingIn: list)
      perform(roster.handle(.pcscReaders(list)))
    case .problem(let problem):
      if problem != roster.pcscList.problem, pcsc.lines.line(at: .now) == .write {
        core.log(.notice, "pcscd gives no list of readers: \(problem.kind.rawValue) \(problem.text)")
      }
      perform(roster.handle(.pcscProblem(problem)))
    }
  }

  /// A tag on the next reader of the same name is a new one. If the configuration names the reader, its process sees
  /// that the reader was away.
  private func forgetTags(onReadersMissingIn list: [PCSCReader]) {
    let names = Set(list.map(\.name))
    for (id, reader) in roster.readers {
      guard let slot = reader.slot, !reader.stays, !names.contains(slot) else { continue }
      processes.keep(KnownTags(), of: id)
    }
  }

  // MARK: Processes

  /// In order.
  private func perform(_ actions: [ReaderRoster.Action]) {
    for action in actions {
      switch action {
      case .show(let id, let device, let seat): show(id, device: device, seat: seat)
      case .hide(let id): hide(id)
      case .start(let id, let device): startProcess(id, device: device)
      case .stop(let id): stopProcess(id)
      case .look(let id): processes[id]?.process.assumeIsolated { $0.lookForDevice() }
      case .move(let id, let seat): core.handle(.readerMoved(id, seat: seat))
      case .away(let id, let isAway): setAway(id, isAway)
      case .restart(let id, let device): restartProcess(id, device: device)
      case .refuse(let id, let reason):
        core.handle(.reader(id, .phase(.failed(reason: reason), reached: nil)))
        core.handle(.readerHasNoProcess(id))
      case .log(let level, let text): core.log(level, text)
      }
    }
    followPCSCD()
  }

  private func startProcess(_ id: Int, device: String?) {
    let isPCSC = device?.hasPrefix(Names.PCSC.devicePrefix) == true
    let pcscProgram = pcsc.program ?? "\(Names.Files.libexec)/\(Names.Files.pcscReaderProgram)"
    let process = processes.add(
      id,
      .init(
        program: isPCSC ? pcscProgram : program, device: device, isFollowed: roster.readers[id]?.isFollowed == true,
        environment: Self.environment + (isPCSC ? pcsc.environment : []))
    ) { [weak self] in self?.receive($0, from: id) }
    let reader = core.state.readers[id]
    // A new reader at the port of a lent one is lent too: the program may have reset its reader, which is a replug. The
    // new reader has no state yet. A reader that already has a state keeps its goal.
    let isReleased = devicePath(of: id).flatMap { loans.inhibitors.inhibitor(releasingDeviceAt: $0) } != nil
    process.assumeIsolated {
      // Send the goal before the process can open the device.
      $0.pursue(reader?.epoch ?? 0, reader?.goal ?? (isReleased ? .lent : .off))
      $0.start()
    }
  }

  private func restartProcess(_ id: Int, device: String) {
    stopProcess(id)
    startProcess(id, device: device)
    guard core.state.readers[id]?.isReady == true else { return }
    core.handle(.reader(id, .phase(.absent(reason: "switching to another device"), reached: nil)))
  }

  /// Ignores its events from here.
  private func stopProcess(_ id: Int) {
    guard let unit = processes.remove(id) else { return }
    core.handle(.readerHasNoProcess(id))
    operations.abandon(at: id)
    processes.end(unit)
  }

  private func setAway(_ id: Int, _ isAway: Bool) {
    core.handle(.readerAway(id, isAway))
    guard let unit = processes[id], let reported = unit.reported, core.state.readers[id]?.isReady == false else {
      return
    }
    core.handle(.reader(id, .phase(explained(reported, of: id), reached: unit.reached)))
  }

  private func receive(_ event: ReaderProcessEvent, from id: Int) {
    switch event {
    case .tag(let report, let epoch):
      core.handle(.tag(id, report, epoch: epoch, id: DetectedTap.makeID(), time: SystemClock.now))
    case .known(let known): processes.keep(known, of: id)
    case .phase(let phase, let reached):
      switch phase {
      case .ready(_, let device):
        let process = processes[id]?.process
        perform(roster.handle(.opened(id, device: device)))
        guard processes[id]?.process === process else { return }
        processes[id]?.opened = device
      case .absent, .failed: processes[id]?.opened = nil
      case .opening, .scanning, .inSession, .released: break
      }
      processes[id]?.reported = phase
      processes[id]?.reached = reached
      core.handle(.reader(id, .phase(explained(phase, of: id), reached: reached)))
      if core.state.readers[id]?.isLent == true { loans.wake(id) }
    case .performed(let request, let result): operations.finish(request, result)
    case .progress(let request, let bytes): operations.progress(request, bytes)
    case .crashed, .log, .removed, .waiting, .sessionTag, .sessionTagRemoved, .sessionRoundEnded,
      .sessionPollingRestarted:
      core.handle(.reader(id, event))
    }
  }

  /// Adds the reason that udev knows to the phase that a process has reported.
  private func explained(_ reported: ReaderPhase, of id: Int) -> ReaderPhase {
    explained(reported, of: id, by: obstacle(to: id))
  }

  private func explained(_ reported: ReaderPhase, of id: Int, by obstacle: ReaderObstacle?) -> ReaderPhase {
    if reported.isOpen || reported == .released { return reported }
    perform(roster.handle(.failed(id, obstacle)))
    // libnfc cannot distinguish an unplugged USB reader from one that it may not open. udev can.
    if case .failed = reported, core.state.readers[id]?.isAway == true {
      return .absent(reason: "it is not plugged in")
    }
    return obstacle.map { .failed(reason: $0.reason(hasSystemd: core.directories.hasSystemd)) } ?? reported
  }

  /// Nil if the daemon sees no obstacle.
  private func obstacle(to id: Int) -> ReaderObstacle? {
    // pcscd opens the device of such a reader, and its process reports the obstacle.
    guard roster.readers[id]?.isPCSC == false else { return nil }
    guard let path = devicePath(of: id), let device = deviceMonitor?.assumeIsolated({ $0.device(at: path) }) else {
      return nil
    }
    let mayOpen = device.node.map { access($0, R_OK | W_OK) == 0 || errno == ENOENT } ?? true
    // If pcscd runs, or systemd starts it on demand, its socket for clients exists.
    return ReaderObstacle(device, pcscdRuns: runtimeFileExists(Names.PCSC.socket), mayOpen: mayOpen)
  }

  private func runtimeFileExists(_ name: String) -> Bool { access("\(core.directories.runtime)/\(name)", F_OK) == 0 }

  private nonisolated static func resolve(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(validatingCString: resolved)
  }

  // MARK: On the bus

  private func show(_ id: Int, device: String, seat: String) {
    guard let path = try? ObjectPath("\(Names.Daemon.readersPath)/\(id)") else { return }
    core.handle(.readerAdded(id, path: path, device: device, seat: seat, identity: roster.identity(ofDevice: device)))
    do {
      let interface = interface(id)
      try core.connection?.assumeIsolated { try $0.export([interface], at: path) }
    } catch {
      core.log(.error, "cannot export reader \(device) on the bus: \(error)")
    }
    guard let place = devicePath(of: id), let inhibitor = loans.inhibitors.inhibitor(releasingDeviceAt: place) else {
      return
    }
    loans.inhibitors.release(id, at: place, with: inhibitor.id)
    core.handle(.release(id, true))
  }

  private func hide(_ id: Int) {
    guard let path = core.state.readers[id]?.path else { return }
    core.connection?.assumeIsolated { $0.unexport(path) }
    loans.inhibitors.forget(id)
    core.handle(.readerRemoved(id))
    loans.wake(id)
  }

  private func interface(_ id: Int) -> ExportedInterface {
    func property(
      _ name: String, _ signature: Signature, emits: ExportedProperty.ChangeSignal = .changed
    ) -> ExportedProperty {
      ExportedProperty(name, signature, emits: emits) { [weak core] _ in
        // Without the reader, the type is wrong, and the caller gets an error.
        await core?.state.readers[id]?.properties.values[name] ?? .boolean(false)
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
