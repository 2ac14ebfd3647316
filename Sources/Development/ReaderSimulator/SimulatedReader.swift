import EventLoop
import Glibc

/// A PN532 chip on a pseudo-terminal, with the tags that a test places on it.
///
/// libnfc opens it as `connectionString`. The reader runs on its own thread, so the chip answers while the test waits.
package actor SimulatedReader {
  /// A condition that a test waits for.
  package typealias Condition = @Sendable (isolated SimulatedReader) -> Bool

  /// The loop that owns the line and the chip.
  package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  /// If a frame stops half-way for this long, its sender is gone, and the decoder discards the frame.
  private static let frameTimeout = Duration.milliseconds(100)

  private let loop: EventLoop
  private let clock: any SimulatorClock
  private let link: DeviceLink?
  private var line: Line?
  private var lastPath: String
  private var chip: PN532Chip
  private var decoder = HostFrameDecoder()
  private var nextTag: UInt64 = 1
  /// The frames that are still to be sent, in order.
  private var outbox: ArraySlice<[UInt8]> = []
  /// Each change cancels the scheduled sends and wake-ups.
  private var generation = 0 { didSet { outbox = [] } }
  private var waiters = Waiters<SimulatedReader>()
  /// Counts arrivals of bytes, for the timeout within a frame.
  private var arrivals = 0

  /// Plugs a new reader in, without tags. Each time it is plugged in, `link` becomes a symbolic link to the
  /// pseudo-terminal. If `wakesTypeB`, a poll for Type B wakes halted cards (WUPB, otherwise REQB); the chip's manual
  /// leaves this open. Fails if the system has no pseudo-terminal left, or the link cannot be created.
  package static func start(
    timing: TimingModel = .immediate, link: String? = nil, clock: any SimulatorClock = MachineClock(),
    wakesTypeB: Bool = true
  ) async throws(SimulatorError) -> SimulatedReader {
    let reader = SimulatedReader(timing: timing, link: link, clock: clock, wakesTypeB: wakesTypeB)
    try await reader.plug()
    return reader
  }

  private init(timing: TimingModel, link: String?, clock: any SimulatorClock, wakesTypeB: Bool) {
    loop = EventLoop(label: "simulator")
    // A chip answers in time however busy the machine is. libnfc waits only 300 ms. Beside a build, the scheduler let a
    // thread of normal priority wait for 523 ms. Without the permission, the thread keeps its normal priority.
    loop.execute {
      var priority = sched_param(sched_priority: 1)
      pthread_setschedparam(pthread_self(), SCHED_RR, &priority)
    }
    self.clock = clock
    self.link = link.map(DeviceLink.init)
    lastPath = link ?? ""
    chip = PN532Chip(timing: timing)
    chip.wakesTypeB = wakesTypeB
  }

  /// The path to open: the link if there is one, otherwise the pseudo-terminal.
  package var path: String { link?.path ?? lastPath }

  /// The path of the pseudo-terminal. It changes with each `plug`.
  package var terminalPath: String { lastPath }

  /// The libnfc connection string of the device.
  package var connectionString: String { "pn532_uart:\(path)" }

  /// Whether the reader is plugged in.
  package var isPluggedIn: Bool { line != nil }

  /// Plugs the reader in: opens the line and resets the chip. Tags and counters are kept. Has no effect if the reader
  /// is plugged in already. Fails like `start`.
  package func plug() throws(SimulatorError) {
    guard line == nil else { return }
    let terminal = try PseudoTerminal()
    try link?.point(to: terminal.path)
    lastPath = terminal.path
    decoder = HostFrameDecoder()
    chip.reset(at: clock.now)
    let watch: DescriptorWatch
    do throws(SystemError) {
      watch = try DescriptorWatch(terminal.controller, on: loop) { [weak self] in
        self?.assumeIsolated { $0.receive() }
      }
    } catch {
      throw SimulatorError(error.description)
    }
    line = Line(terminal: terminal, watch: watch)
  }

  /// Unplugs the reader: closes both ends of the line and cuts the chip's power.
  package func unplug() {
    guard let line else { return }
    self.line = nil
    generation += 1
    link?.remove()
    line.watch.cancel()
    chip.reset(at: clock.now)
  }

  /// Stops the reader.
  package func stop() { unplug() }

  /// Places a tag on the reader. Returns the placement, for `remove(_:)`.
  @discardableResult
  package func place(_ tag: SimulatedTag) -> TagID {
    let id = TagID(number: nextTag)
    nextTag += 1
    chip.radio.field.place(tag.tag, as: id, at: clock.now)
    perform(chip.fieldChanged(at: clock.now))
    return id
  }

  /// Places tags on the reader at the same time.
  package func place(_ tags: [SimulatedTag]) { for tag in tags { place(tag) } }

  /// Removes a tag and returns it with its current contents; nil if it is not on the reader. A tag that a fault removed
  /// is returned once.
  @discardableResult
  package func remove(_ id: TagID) -> SimulatedTag? {
    let tag = chip.radio.field.remove(id) ?? chip.radio.forgetTakenAway(id)
    perform(chip.fieldChanged(at: clock.now))
    return tag.map(SimulatedTag.init)
  }

  /// Removes all tags.
  package func removeAll() { for id in tags { remove(id) } }

  /// The tags on the reader, in the order of their placement.
  package var tags: [TagID] { chip.radio.field.tags }

  /// The tag's whole memory; nil if the tag is not on the reader.
  package func memory(of id: TagID) -> [UInt8]? { chip.radio.field.memory(of: id) }

  /// Injects a fault.
  package func add(_ fault: Fault) { chip.radio.faults.add(fault) }

  /// Discards the pending faults. A chip that already hangs keeps hanging.
  package func clearFaults() { chip.radio.faults.clear() }

  /// How often a fault has struck since the last `clearFaults`.
  package var strikes: Int { chip.radio.faults.strikes }

  /// The chip's activity since the last `resetCounters`.
  package var counters: Counters { chip.counters(at: clock.now) }

  /// Resets the counters and the list of commands.
  package func resetCounters() { chip.resetCounters(at: clock.now) }

  /// Whether the RF field is on.
  package var isFieldOn: Bool { chip.radio.field.isOn }

  /// The commands since the last `resetCounters`. Of more than 8,192 commands, at least the last 4,096 are kept.
  package var commands: [CommandRecord] { chip.trace }

  /// Waits until `condition` is true. The reader checks it each time bytes arrive from the host.
  /// Fails if the task is cancelled, as by the time limit of a test.
  package func wait(until condition: @escaping Condition) async throws(SimulatorError) {
    guard !condition(self) else { return }
    let (number, met) = waiters.add(condition)
    for await _ in met {}
    try waiters.remove(number)
  }

  private func resumeWaiters() { waiters.resume(for: self) }

  private func receive() {
    defer { resumeWaiters() }
    guard let line else { return }
    let bytes = line.terminal.read()
    guard !bytes.isEmpty else { return }
    chip.countReceived(bytes: bytes.count)
    arrivals += 1
    handle(decoder.append(bytes))
    guard decoder.isInsideFrame else { return }
    let arrival = arrivals
    clock.schedule(after: Self.frameTimeout, on: loop) { [weak self] in
      self?.assumeIsolated { $0.abandonFrame(since: arrival) }
    }
  }

  private func abandonFrame(since arrival: Int) {
    guard arrival == arrivals, line != nil else { return }
    while decoder.isInsideFrame { handle(decoder.abandonFrame()) }
  }

  private func handle(_ frames: [HostFrame]) {
    for frame in frames { perform(chip.receive(frame, at: clock.now)) }
  }

  private func perform(_ actions: [PN532Chip.Action]) {
    for action in actions {
      switch action {
      case .cancel: generation += 1
      case .unplug: unplug()
      case .send(let bytes, let delay):
        if delay <= .zero && outbox.isEmpty {
          line?.terminal.write(bytes)
        } else {
          outbox.append(bytes)
          later(delay) { reader in
            // Late timers can fire out of order, but a line keeps the order.
            if let bytes = reader.outbox.popFirst() { reader.line?.terminal.write(bytes) }
          }
        }
      case .wake(let deadline):
        later(deadline - clock.now) { $0.perform($0.chip.wake(at: $0.clock.now)) }
      }
    }
  }

  /// Runs `body` after `delay`, unless it is cancelled before.
  private func later(_ delay: Duration, _ body: @escaping @Sendable (isolated SimulatedReader) -> Void) {
    let due = generation
    clock.schedule(after: delay, on: loop) { [weak self] in
      self?.assumeIsolated { reader in
        if reader.generation == due { body(reader) }
      }
    }
  }
}

/// An open line and the watch for incoming bytes.
private struct Line {
  let terminal: PseudoTerminal
  let watch: DescriptorWatch
}
