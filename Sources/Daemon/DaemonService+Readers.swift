import Configuration
import DeviceEvents
import EventLoop
import Glibc
import Journal
import ReaderLink

/// The processes of readers.
extension DaemonService {
  /// Starts a process for each reader that there should be, from here on.
  func startReaders(_ program: String) {
    let devices = watchDevices()
    let isQuiet = hasRunBefore()
    roster = ReaderRoster(configured: configuration.devices, hasUdev: devices != nil, resolve: Self.resolve)
    readerProgram = program
    if let devices { perform(roster.handle(.device(.present(devices))), quietly: isQuiet) }
    perform(roster.handle(.start), quietly: isQuiet)
    listReaders(quietly: isQuiet)
  }

  /// Asks libnfc for readers, where there are to be those that it finds.
  ///
  /// - Parameter isQuiet: as with ``perform(_:quietly:)``.
  func listReaders(quietly isQuiet: Bool) {
    listings += 1
    guard roster.listing != .nothing else { return }
    let (number, isToLook, program) = (listings, roster.listing == .everything, readerProgram)
    Task { [weak self, loop, log] in
      // It finds no device that one of our processes still has.
      await self?.untilLeft()
      var found: [String] = []
      do throws(ReaderDiscovery.Failure) {
        found = try await ReaderDiscovery.devices(program: program, lookingForMore: isToLook, on: loop)
      } catch {
        log(.warning, "cannot ask libnfc for readers: \(error)")
      }
      await self?.list(found, number, quietly: isQuiet)
    }
  }

  private func list(_ found: [String], _ number: Int, quietly isQuiet: Bool) {
    guard !isStopped, number == listings else { return }
    perform(roster.handle(.listed(found)), quietly: isQuiet)
  }

  /// Waits for the processes that are about to end.
  private func untilLeft() async {
    for unit in Array(leaving.values) { await unit.process.stop() }
  }

  /// Whether this daemon takes the place of another one, whose readers these were a moment ago.
  private func hasRunBefore() -> Bool {
    do throws(SystemError) {
      return try RestartMark.standard().leave()
    } catch {
      log(.warning, "\(error): a tag that rests on a reader over a restart is announced again")
      return false
    }
  }

  /// Carries out what the roster decides.
  ///
  /// - Parameters:
  ///   - actions: in this order.
  ///   - isQuiet: whether the readers that it starts may have been another process's a moment ago, which has announced what lies there. Not
  ///     of one that is plugged in.
  func perform(_ actions: [ReaderRoster.Action], quietly isQuiet: Bool = false) {
    for action in actions {
      switch action {
      case .show(let id, let device, let seat): show(id, device: device, seat: seat)
      case .hide(let id): hide(id)
      case .start(let id, let device): startProcess(id, device: device, quietly: isQuiet)
      case .stop(let id): stopProcess(id)
      case .look(let id): units[id]?.process.assumeIsolated { $0.lookForDevice() }
      case .move(let id, let seat): handle(.readerMoved(id, seat: seat))
      case .away(let id, let isAway): setAway(id, isAway)
      case .restart(let id, let device): restartProcess(id, device: device, quietly: isQuiet)
      case .refuse(let id, let reason):
        handle(.reader(id, .scanning(false)))
        handle(.reader(id, .state(.failed(reason: reason))))
      case .log(let level, let text): log(level, text)
      }
    }
  }

  private func startProcess(_ id: Int, device: String?, quietly isQuiet: Bool) {
    let process = ReaderProcess(
      .init(
        program: readerProgram, device: device, pollInterval: configuration.pollInterval,
        idlePollInterval: configuration.idlePollInterval, technologies: configuration.technologies,
        isFollowed: roster.readers[id]?.isFollowed == true, environment: ["PATH=/usr/bin:/bin", "LANG=C.UTF-8"]),
      on: loop)
    let task = Task { [weak self] in
      for await event in process.events { await self?.receive(event, from: id, process) }
    }
    units[id] = ReaderUnit(process: process, task: task)
    let isToScan = state.readers[id]?.isToScan == true
    let isReleased = isReleased(id)
    process.assumeIsolated {
      if isQuiet { $0.quieten() }
      // Before it can have opened anything.
      $0.lend(isReleased)
      $0.start()
      $0.setScanning(isToScan)
    }
    // It has nothing of the loan of the one before, and will not say so.
    guard !isReleased, state.readers[id]?.isLent == true else { return }
    handle(.reader(id, .lent(false)))
    wakeLoanWaiters(id)
  }

  /// Whether another program has the device of a reader.
  private func isReleased(_ id: Int) -> Bool {
    // Another reader that comes to the same port was never lent, and nobody would give it back.
    if let reader = state.readers[id] { return reader.isReleased }
    // One that its program has reset is plugged in anew, and is shown once its process has been told.
    return roster.readers[id]?.path.flatMap { inhibitors.inhibitor(releasingDeviceAt: $0) } != nil
  }

  private func restartProcess(_ id: Int, device: String, quietly isQuiet: Bool) {
    stopProcess(id)
    startProcess(id, device: device, quietly: isQuiet)
    handle(.reader(id, .scanning(false)))
    guard state.readers[id]?.isReady == true else { return }
    handle(.reader(id, .state(.absent(reason: "another device takes its place"))))
  }

  private func setAway(_ id: Int, _ isAway: Bool) {
    handle(.readerAway(id, isAway))
    guard let reported = units[id]?.reported, state.readers[id]?.isReady == false else { return }
    handle(.reader(id, .state(explained(reported, of: id))))
  }

  /// What it still says counts no more. The daemon's end waits for it.
  private func stopProcess(_ id: Int) {
    guard let unit = units.removeValue(forKey: id) else { return }
    unit.task.cancel()
    handle(.readerProcessGone(id))
    abandonOperations(at: id)
    // Another process does not know of it, and this one is not asked.
    apply(state.perform(state.sessions.handle(.lost, at: id, .now)))
    leaving[ObjectIdentifier(unit.process)] = unit
    Task { [weak self] in
      await self?.end(unit.process)
      await self?.left(unit.process)
    }
  }

  private func left(_ process: ReaderProcess) { leaving[ObjectIdentifier(process)] = nil }

  /// Ends a process for good, as far as that can be done.
  func end(_ process: ReaderProcess) async {
    guard await !process.stop() else { return }
    log(.warning, "a reader process was killed and does not end: a driver in the kernel hangs; unplug the reader")
  }

  private func receive(_ event: ReaderProcessEvent, from id: Int, _ process: ReaderProcess) {
    // Not one that is about to leave.
    guard units[id]?.process === process else { return }
    switch event {
    case .tag(let report): handle(.tag(id, report, id: Tap.makeID(), time: Self.microsecondsSince1970()))
    case .state(let reported):
      if case .ready(_, let device) = reported { perform(roster.handle(.opened(id, device: device))) }
      units[id]?.reported = reported
      handle(.reader(id, .state(explained(reported, of: id))))
    case .performed(let request, let result): finish(request, result)
    case .progress(let request, let bytes): progress(request, bytes)
    case .lent:
      handle(.reader(id, event))
      wakeLoanWaiters(id)
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
