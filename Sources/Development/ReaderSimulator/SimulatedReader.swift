import EventLoop
import Glibc
import Names

/// A PN532 chip on a pseudo-terminal, with the tags that a test places on it.
///
/// libnfc opens it as `connectionString`. The reader runs on its own thread, so the chip answers while the test waits.
package actor SimulatedReader {
  package typealias Condition = @Sendable (isolated SimulatedReader) -> Bool

  package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  /// If a frame stops half-way for this long, its sender is gone, and the decoder discards the frame.
  private static let frameTimeout = Duration.milliseconds(100)

  private let loop: EventLoop
  private let clock: any SimulatorClock
  private let link: DeviceLink?
  private let isBridged: Bool
  private var line: HostLine?
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
  /// leaves this open. If `isBridged`, the host reaches the chip through a bridge, which speaks to the chip at 115,200
  /// baud whatever the host sets. The chip of a `recording` answers first. Fails if the system has no pseudo-terminal
  /// left, or the link cannot be created.
  package static func start(
    timing: TimingModel = .immediate, link: String? = nil, clock: any SimulatorClock = MachineClock(),
    wakesTypeB: Bool = true, isBridged: Bool = false, recording: TraceReplay? = nil
  ) async throws(SimulatorError) -> SimulatedReader {
    let reader = SimulatedReader(
      timing: timing, link: link, clock: clock, wakesTypeB: wakesTypeB, isBridged: isBridged, recording: recording)
    try await reader.plug()
    return reader
  }

  private init(
    timing: TimingModel, link: String?, clock: any SimulatorClock, wakesTypeB: Bool, isBridged: Bool,
    recording: TraceReplay?
  ) {
    loop = EventLoop(label: "simulator")
    // A chip answers in time, even on a busy machine. libnfc waits only 300 ms. Beside a build, the scheduler let a
    // thread of normal priority wait for 523 ms. Without the permission, the thread keeps its normal priority.
    loop.execute {
      var priority = sched_param(sched_priority: 1)
      pthread_setschedparam(pthread_self(), SCHED_RR, &priority)
    }
    (self.clock, self.isBridged) = (clock, isBridged)
    self.link = link.map(DeviceLink.init)
    lastPath = link ?? ""
    chip = PN532Chip(timing: timing)
    chip.wakesTypeB = wakesTypeB
    chip.recording = recording
  }

  /// What a recording has and was not repeated yet.
  var remainingRecording: [TraceLine.Event] { chip.recording?.remaining ?? [] }

  /// The path to open: the link if there is one, otherwise the pseudo-terminal.
  package var path: String { link?.path ?? lastPath }

  /// The path of the pseudo-terminal. It changes with each `plug`.
  package var terminalPath: String { lastPath }

  /// The libnfc connection string of the device.
  package var connectionString: String { "pn532_uart:\(path)" }

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
    line = HostLine(terminal: terminal, watch: watch)
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

  package func stop() { unplug() }

  /// Cuts the chip's power for a moment. The line stays, as that of an adapter with its own power.
  package func interruptPower() {
    generation += 1
    chip.reset(at: clock.now)
  }

  /// The chip's rate, in bits per second.
  package var rate: Int { chip.rate }

  /// Returns the placement, for `remove(_:)`.
  @discardableResult package func place(_ tag: SimulatedTag) -> TagID {
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
  @discardableResult package func remove(_ id: TagID) -> SimulatedTag? {
    let tag = chip.radio.field.remove(id) ?? chip.radio.forgetTakenAway(id)
    perform(chip.fieldChanged(at: clock.now))
    return tag.map(SimulatedTag.init)
  }

  package func removeAll() { for id in tags { remove(id) } }

  /// The tags on the reader, in the order of their placement.
  package var tags: [TagID] { chip.radio.field.tags }

  /// The tag's whole memory; nil if the tag is not on the reader.
  package func memory(of id: TagID) -> [UInt8]? { chip.radio.field.memory(of: id) }

  package func add(_ fault: Fault) { chip.radio.faults.add(fault) }

  /// Discards the pending faults. A chip that already hangs keeps hanging.
  package func clearFaults() { chip.radio.faults.clear() }

  /// How often a fault has struck since the last `clearFaults`.
  package var strikes: Int { chip.radio.faults.strikes }

  /// The chip's activity since the last `resetCounters`.
  package var counters: ChipCounters { chip.counters(at: clock.now) }

  /// Resets the counters and the list of commands.
  package func resetCounters() { chip.resetCounters(at: clock.now) }

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
    // A host may have set its new rate between its acknowledgement and the moment when that is read here.
    guard isAtRate(chip.rate, at: line.terminal) || chip.nextRate.map({ isAtRate($0, at: line.terminal) }) == true
    else {
      return
    }
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
          send(bytes)
        } else {
          outbox.append(bytes)
          later(delay) { reader in
            // Late timers can fire out of order, but a line keeps the order.
            if let bytes = reader.outbox.popFirst() { reader.send(bytes) }
          }
        }
      case .wake(let deadline): later(deadline - clock.now) { $0.perform($0.chip.wake(at: $0.clock.now)) }
      }
    }
  }

  /// Whether a chip with this rate and the other end of the line understand each other.
  private func isAtRate(_ rate: Int, at terminal: PseudoTerminal) -> Bool {
    rate == (isBridged ? PN532Chip.initialRate : terminal.rate)
  }

  /// A host with another rate gets garbage.
  private func send(_ bytes: [UInt8]) {
    guard let terminal = line?.terminal else { return }
    terminal.write(isAtRate(chip.rate, at: terminal) ? bytes : [UInt8](repeating: 0xFE, count: bytes.count))
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
private struct HostLine {
  let terminal: PseudoTerminal
  let watch: DescriptorWatch
}

/// One placement of a tag on the simulated reader. A tag that is removed and placed again gets a new id.
package struct TagID: Hashable, Sendable, CustomStringConvertible {
  let number: UInt64

  /// The number of the placement, from 1.
  package var description: String { "\(number)" }
}

/// The activity of the simulated chip since its creation, or since the counters were last reset.
package struct ChipCounters: Sendable, Hashable {
  /// Commands that the host sent and the chip acknowledged.
  package var commands = 0
  /// Frames that the chip sent to a selected tag on behalf of the host. A READ is one frame, an APDU one or more.
  package var exchanges = 0
  /// Frames that the chip sent to find and select tags: requests, anticollision, selects, RATS.
  package var activationFrames = 0
  package var bytesReceived = 0
  package var bytesSent = 0
  /// How long the answered commands took in the timing model: from a command's first byte on the line to the last byte
  /// of its answer. An infinitely fast host would need this time too.
  package var wireTime: Duration = .zero
  package var fieldOnTime: Duration = .zero

  package init() {}
}

/// A command that the host sent, so that tests can check which commands a host sends.
package struct CommandRecord: Sendable, Hashable, CustomStringConvertible {
  /// The command code and its parameters.
  package let command: [UInt8]
  /// The answer without its code. Nil while the chip waits, if it hangs, and if it sent an error frame.
  package internal(set) var answer: [UInt8]?
  /// When the command had arrived, on the reader's clock.
  package let arrival: Duration
  /// When the last byte of the answer or error frame is sent, on the reader's clock.
  package internal(set) var end: Duration?
  /// The counters after this command was answered.
  package internal(set) var counters: ChipCounters?

  /// How many tags the command found. Nil if the command does not poll for tags or has no answer.
  package var foundTargets: Int? {
    guard let code = command.first, let answer else { return nil }
    let looks = [PN532Command.inListPassiveTarget, .inAutoPoll].map(\.rawValue)
    return looks.contains(code) ? Int(answer.first ?? 0) : nil
  }

  /// Whether the command was one to a tag, which has answered it.
  package var isAnsweredExchange: Bool {
    let exchanges = [PN532Command.inDataExchange, .inCommunicateThru].map(\.rawValue)
    return command.first.map(exchanges.contains) == true && answer?.first == 0
  }

  /// Command and answer in hexadecimal digits.
  package var description: String { "\(HexText.string(command)) → \(answer.map(HexText.string) ?? "nothing")" }
}

/// The waits of tests for a state of `Owner`.
struct Waiters<Owner: Actor> {
  typealias Condition = @Sendable (isolated Owner) -> Bool

  private var waiting: [Int: (condition: Condition, continuation: AsyncStream<Void>.Continuation)] = [:]
  private var last = 0

  /// Adds a wait. Returns its number and a stream, which ends with the wait.
  mutating func add(_ condition: @escaping Condition) -> (number: Int, met: AsyncStream<Void>) {
    let (met, continuation) = AsyncStream.makeStream(of: Void.self)
    last += 1
    waiting[last] = (condition, continuation)
    return (last, met)
  }

  /// Ends the waits with a true condition.
  mutating func resume(for owner: isolated Owner) {
    for (number, waiter) in waiting where waiter.condition(owner) {
      waiting[number] = nil
      waiter.continuation.finish()
    }
  }

  /// Removes a wait after the end of its stream. Fails if its condition was not met: the task was cancelled.
  mutating func remove(_ number: Int) throws(SimulatorError) {
    guard waiting.removeValue(forKey: number) == nil else { throw SimulatorError("the wait was cancelled") }
  }
}

package struct SimulatorError: Error, Sendable, Hashable, CustomStringConvertible {
  package let message: String

  package init(_ message: String) { self.message = message }

  package var description: String { message }
}
