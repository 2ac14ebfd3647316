import EventLoop

/// A PN532 chip on a pseudo-terminal, with the tags that are put on it.
///
/// libnfc opens it as `connectionString`. Everything runs on a thread of the reader's own: the chip answers while the
/// test that put a tag there waits for something else.
public actor SimulatedReader {
  /// What somebody waits for.
  public typealias Condition = @Sendable (isolated SimulatedReader) -> Bool

  /// The loop that owns the line and the chip.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  /// A frame that stops half-way for this long was never to be finished: its sender is gone.
  private static let frameTimeout = Duration.milliseconds(100)

  private let loop: EventLoop
  private let clock: any SimulatorClock
  private let link: DeviceLink?
  private var line: Line?
  private var lastPath: String
  private var chip: PN532Chip
  private var decoder = HostFrameDecoder()
  private var nextTag: UInt64 = 1
  /// What is still to be sent, in its order.
  private var outbox: ArraySlice<[UInt8]> = []
  /// Counts what makes scheduled sends void.
  private var generation = 0 { didSet { outbox = [] } }
  private var waiters: [(condition: Condition, continuation: CheckedContinuation<Void, Never>)] = []
  /// Counts arrivals, for the timeout within a frame.
  private var arrivals = 0

  /// Plugs a new reader in.
  ///
  /// - Parameters:
  ///   - timing: how long things take.
  ///   - link: a symbolic link to the pseudo-terminal, made anew whenever the reader is plugged in.
  ///   - clock: what the time is taken from.
  ///   - wakesTypeB: whether a look for Type B wakes cards that were let go (WUPB) or not (REQB): the chip's manual does not say.
  /// - Returns: the reader, plugged in and without tags.
  /// - Throws: `SimulatorError` where there is no pseudo-terminal, or the link cannot be made.
  public static func start(
    timing: TimingModel = .immediate, link: String? = nil, clock: any SimulatorClock = MachineClock(),
    wakesTypeB: Bool = true
  ) async throws(SimulatorError) -> SimulatedReader {
    let reader = SimulatedReader(timing: timing, link: link, clock: clock, wakesTypeB: wakesTypeB)
    try await reader.plug()
    return reader
  }

  private init(timing: TimingModel, link: String?, clock: any SimulatorClock, wakesTypeB: Bool) {
    loop = EventLoop(label: "simulator")
    self.clock = clock
    self.link = link.map(DeviceLink.init)
    lastPath = link ?? ""
    chip = PN532Chip(timing: timing)
    chip.wakesTypeB = wakesTypeB
  }

  /// What to open: the link where there is one, else the pseudo-terminal.
  public var path: String { link?.path ?? lastPath }

  /// The pseudo-terminal itself, another one after each `plug`.
  public var terminalPath: String { lastPath }

  /// The device as libnfc wants it named.
  public var connectionString: String { "pn532_uart:\(path)" }

  /// Whether the line is there.
  public var isPluggedIn: Bool { line != nil }

  /// Makes the line, and the chip new behind it; tags and counters stay. Nothing happens where it is plugged in.
  ///
  /// - Throws: `SimulatorError` where there is no pseudo-terminal, or the link cannot be made.
  public func plug() throws(SimulatorError) {
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

  /// Pulls the plug: both ends of the line are closed, and the chip has no power.
  public func unplug() {
    guard let line else { return }
    self.line = nil
    generation += 1
    link?.remove()
    line.watch.cancel()
    chip.reset(at: clock.now)
  }

  /// Ends the reader.
  public func stop() { unplug() }

  /// Puts a tag on the reader.
  ///
  /// - Returns: the placement, to take it away again.
  @discardableResult
  public func place(_ tag: SimulatedTag) -> TagID {
    let id = TagID(number: nextTag)
    nextTag += 1
    chip.radio.field.place(tag.tag, as: id, at: clock.now)
    perform(chip.fieldChanged(at: clock.now))
    return id
  }

  /// Takes a tag away.
  ///
  /// - Returns: the tag with what was written on it, nil where it is not there. One that a fault took away is
  ///   given back once.
  @discardableResult
  public func remove(_ id: TagID) -> SimulatedTag? {
    let tag = chip.radio.field.remove(id) ?? chip.radio.forgetTakenAway(id)
    perform(chip.fieldChanged(at: clock.now))
    return tag.map(SimulatedTag.init)
  }

  /// Takes all tags away.
  public func removeAll() { for id in tags { remove(id) } }

  /// The tags that lie on the reader.
  public var tags: [TagID] { chip.radio.field.tags }

  /// - Parameter id: a tag that lies on the reader.
  /// - Returns: all that is in its memory, nil where it is not there.
  public func memory(of id: TagID) -> [UInt8]? { chip.radio.field.memory(of: id) }

  /// Lets something go wrong.
  public func add(_ fault: Fault) { chip.radio.faults.add(fault) }

  /// Whatever was to go wrong does not; a chip that hangs already still does.
  public func clearFaults() { chip.radio.faults.clear() }

  /// How often a fault has struck since they were cleared.
  public var strikes: Int { chip.radio.faults.strikes }

  /// What has been done so far.
  public var counters: Counters { chip.counters(at: clock.now) }

  /// Starts counting, and the list of commands, anew.
  public func resetCounters() { chip.resetCounters(at: clock.now) }

  /// Whether the RF field is on.
  public var isFieldOn: Bool { chip.radio.field.isOn }

  /// The commands since the counters were reset; of more than 8,192 the last 4,096 at least.
  public var commands: [CommandRecord] { chip.trace }

  /// Returns as soon as `condition` holds; it is looked at anew after everything that happens on the line.
  ///
  /// - Parameter condition: what to wait for: a command, a count.
  public func wait(until condition: @escaping Condition) async {
    guard !condition(self) else { return }
    await withCheckedContinuation { waiters.append((condition, $0)) }
  }

  private func resumeWaiters() {
    let due = waiters.filter { $0.condition(self) }
    guard !due.isEmpty else { return }
    waiters.removeAll { $0.condition(self) }
    for waiter in due { waiter.continuation.resume() }
  }

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
            // Timers that are late do not keep their order, and a line does.
            if let bytes = reader.outbox.popFirst() { reader.line?.terminal.write(bytes) }
          }
        }
      case .wake(let deadline):
        later(deadline - clock.now) { $0.perform($0.chip.wake(at: $0.clock.now)) }
      }
    }
  }

  /// Does it then, unless something has cancelled it.
  private func later(_ delay: Duration, _ body: @escaping @Sendable (isolated SimulatedReader) -> Void) {
    let due = generation
    clock.schedule(after: delay, on: loop) { [weak self] in
      self?.assumeIsolated { reader in
        if reader.generation == due { body(reader) }
      }
    }
  }
}

/// An open line and who listens to it.
private struct Line {
  let terminal: PseudoTerminal
  let watch: DescriptorWatch
}
