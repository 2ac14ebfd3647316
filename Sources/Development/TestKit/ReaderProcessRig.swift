package import Daemon
package import EventLoop
import Glibc
import NDEF
package import Names
package import ReaderProtocol
package import ReaderSimulator
package import Testing

/// Runs a real reader process, plays the daemon, and reads the events of the process.
///
/// A wait that takes too long fails with what the simulated reader and the process did last.
open class ReaderProcessRig {
  /// What a rig needs of the simulated reader.
  package struct Reader: Sendable {
    package let place: @Sendable (SimulatedTag) async throws -> TagID
    package let remove: @Sendable (TagID) async -> Void
    /// What happened last, for failures.
    package let trace: @Sendable () async -> String
    /// Checks the conditions of all waits for the simulation again.
    package let resumeWaiters: @Sendable () async -> Void

    package init(
      place: @escaping @Sendable (SimulatedTag) async throws -> TagID,
      remove: @escaping @Sendable (TagID) async -> Void, trace: @escaping @Sendable () async -> String,
      resumeWaiters: @escaping @Sendable () async -> Void = {}
    ) {
      (self.place, self.remove, self.trace, self.resumeWaiters) = (place, remove, trace, resumeWaiters)
    }
  }

  package let process: ReaderProcess
  /// Measures the limits of waits.
  package let timers = EventLoop(label: "rig")
  private let reader: Reader
  private var events: AsyncStream<ReaderProcessEvent>.Iterator
  /// All events that were read so far.
  package private(set) var seen: [ReaderProcessEvent] = []

  // The goal of the reader, which the daemon would set.
  /// The number of the goal.
  package private(set) var epoch: UInt64 = 0
  private var goal = ReaderGoal.off
  private var isToScan = false
  private var session: TagSessionOptions?
  private var isLent = false
  private var polling: ReaderPolling

  /// The process is not started yet. It is stopped at the end of the test.
  package init(
    _ configuration: ReaderProcess.Configuration, _ polling: ReaderPolling, _ reader: Reader,
    loop: EventLoop = EventLoop(label: "daemon")
  ) {
    // A process inherits no environment, and Packaging/test-threads sets how Thread Sanitizer behaves.
    let sanitizer = ProcessEnvironment.current["TSAN_OPTIONS"].map { ["TSAN_OPTIONS=\($0)"] } ?? []
    var configuration = configuration
    configuration.environment += sanitizer
    process = ReaderProcess(configuration, on: loop)
    events = process.events.makeAsyncIterator()
    (self.polling, self.reader) = (polling, reader)
    atEndOfTest { [process] in await process.stop() }
  }

  // MARK: Goals

  /// Starts or stops scanning, and waits until that is in force.
  package func scan(_ isOn: Bool) async throws {
    await setScanning(isOn)
    try await expect(.scanning(isOn))
  }

  package func setScanning(_ isOn: Bool) async {
    isToScan = isOn
    await pursue()
  }

  package func configure(_ change: (inout ReaderPolling) -> Void) async {
    change(&polling)
    await pursue()
  }

  /// Begins a session in place of the present one.
  package func beginSession(_ options: TagSessionOptions) async {
    session = options
    await pursue()
  }

  package func endSession(_ number: UInt64) async {
    if session?.number == number { session = nil }
    await pursue()
  }

  package func lend(_ isOn: Bool) async {
    isLent = isOn
    // A loan ends the reader session.
    if isOn { session = nil }
    await pursue()
  }

  private func pursue() async {
    let new = isLent ? .lent : session.map { .session($0) } ?? (isToScan ? ReaderGoal.scan(polling) : .off)
    guard new != goal else { return }
    (epoch, goal) = (epoch + 1, new)
    await process.pursue(epoch, goal)
  }

  /// Scans with another process, which records a trace, and returns what it has recorded when `body` ends.
  package func record(_ body: () async throws -> Void) async throws -> [TraceLine] {
    let (ours, theirs) = try FileDescriptor.socketPair(keepsMessages: true)
    await process.record(in: theirs)
    try await expect(.scanning(true))
    try await body()
    var lines: [TraceLine] = []
    var buffer = [UInt8](repeating: 0, count: TraceLine.longest)
    while true {
      let count = recv(ours.rawValue, &buffer, buffer.count, Int32(MSG_DONTWAIT))
      guard count > 0 else { return lines }
      if let line = try TraceLine.read(Array(buffer[..<count])) { lines.append(line) }
    }
  }

  // MARK: Events

  /// Reads events until `pick` returns a result.
  @discardableResult package func next<T>(_ what: String, _ pick: (ReaderProcessEvent) -> T?) async throws -> T {
    let start = seen.count
    let watchdog = timers.schedule(after: ChildProcess.timeout) { [process] in Task { await process.stop() } }
    defer { watchdog.cancel() }
    while let event = await events.next(isolation: #isolation) {
      seen.append(event)
      if event.isLoss, let session { await endSession(session.number) }
      if let result = pick(event) { return result }
      // After an unexpected crash, the event might never come.
      if event.isCrash { break }
    }
    throw await failure("expected \(what), got \(seen[start...])")
  }

  /// An error that says what happened last.
  package func failure(_ what: String) async -> RigError { RigError("\(what)\n\(await reader.trace())") }

  /// An event that a test waits for.
  package enum Word {
    case scanning(Bool)
    case lent(Bool)
    case sessionBegan(UInt64)
    case sessionEnded(UInt64)
    case removed(placement: UInt64)
    case failed
    case crashed
  }

  package func expect(_ word: Word) async throws {
    try await next("\(word)") { event -> Bool? in
      let isMet =
        switch (word, event) {
        case (.removed(let expected), .removed(let placement)): expected == placement
        case (.scanning(true), .phase(.scanning, epoch)), (.lent(true), .phase(.released, epoch)): true
        case (.sessionBegan(let expected), .phase(.inSession(let number), epoch)): expected == number
        case (.scanning(false), .phase(.absent, _)): true
        case (.scanning(false), .phase(let phase, epoch)): phase != .scanning
        case (.lent(false), .phase(let phase, _)): phase != .released
        case (.sessionEnded, .phase(_, epoch)): true
        case (.failed, .phase(.failed, _)), (.crashed, .crashed): true
        default: false
        }
      return isMet ? true : nil
    }
  }

  /// Waits until the reader is ready.
  package func isReady() async throws {
    try await next("a ready reader") { if case .phase(.ready, _) = $0 { true } else { nil } }
  }

  /// The reason why the reader cannot be used.
  package func failed() async throws -> String {
    try await next("a failed reader") { if case .phase(.failed(let reason), _) = $0 { reason } else { nil } }
  }

  /// The next end of a process.
  package func crash() async throws -> ReaderCrash {
    try await next("a crash") { if case .crashed(let crash) = $0 { crash } else { nil } }
  }

  // MARK: Waiting

  /// Waits until the process sleeps, and only a command or an event of the device wakes it.
  package func isAsleep() async throws {
    try await watched("a sleeping process") { [process] _ in await process.wait { $0.isAsleep } }
  }

  /// Waits for `body`, but not forever. After that time, the value is true, and all waiters are resumed.
  package func watched(_ what: String, _ body: (Locked<Bool>) async throws -> Void) async throws {
    let isLate = Locked(false)
    let watchdog = timers.schedule(after: ChildProcess.timeout) { [process, reader] in
      isLate.withLock { $0 = true }
      Task {
        await process.stop()
        await reader.resumeWaiters()
      }
    }
    defer { watchdog.cancel() }
    try await body(isLate)
    if isLate.withLock({ $0 }) { throw await failure("expected \(what)") }
  }

  // MARK: Tags

  @discardableResult package func place(_ tag: SimulatedTag) async throws -> TagID { try await reader.place(tag) }

  /// The next tag that is announced.
  package func tag() async throws -> TagReport {
    try await next("a tag") { if case .tag(let report, _) = $0 { report } else { nil } }
  }

  /// The next tag that is announced, which has to hold a message.
  package func message() async throws -> (message: [UInt8], placement: Placement) {
    let report = try await tag()
    guard case .message(let bytes) = report.content else { throw await failure("expected a message, got \(report)") }
    return (bytes, report.placement)
  }

  /// Returns the number of the next placement that ends. No tag may be announced before that.
  package func removal(sourceLocation: SourceLocation = #_sourceLocation) async throws -> UInt64 {
    try await next("a removal") { event in
      if case .tag(let report, _) = event {
        Issue.record("a tag was announced: \(report)", sourceLocation: sourceLocation)
      }
      return if case .removed(let number) = event { number } else { nil }
    }
  }

  /// Places a tag with a link. The next tag that is announced has to have this link.
  @discardableResult package func announces(
    _ link: String, isType4: Bool = false, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> (id: TagID, placement: Placement) {
    let bytes = try uri(link)
    let id = try await place(try isType4 ? .type4(message: bytes) : .type2(.ntag213, message: bytes))
    let (message, placement) = try await message()
    #expect(message == bytes, sourceLocation: sourceLocation)
    return (id, placement)
  }

  /// Takes a tag away. The next placement that ends has to be this one, and no tag may be announced before that.
  package func takeAway(
    _ id: TagID, _ placement: Placement, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    await reader.remove(id)
    let number = try await removal(sourceLocation: sourceLocation)
    #expect(number == placement.number, sourceLocation: sourceLocation)
  }

  /// The tags that were announced so far.
  package var announced: [TagReport] { seen.compactMap { if case .tag(let report, _) = $0 { report } else { nil } } }

  // MARK: Sessions

  /// Begins a session, and waits until that is in force.
  package func begin(_ options: TagSessionOptions = TagSessionOptions(number: 1)) async throws {
    await beginSession(options)
    try await expect(.sessionBegan(options.number))
  }

  /// Ends a session, and waits until that is in force.
  package func end(_ number: UInt64 = 1) async throws {
    await endSession(number)
    try await expect(.sessionEnded(number))
  }

  /// The next tag that a session reports.
  package func sessionTag() async throws -> SessionTag {
    try await next("a tag of a session") { if case .sessionTag(_, let tag) = $0 { tag } else { nil } }
  }

  /// Places a tag, and waits until the session reports it.
  package func finds(_ tag: SimulatedTag) async throws -> (id: TagID, tag: SessionTag) {
    let id = try await place(tag)
    return (id, try await sessionTag())
  }

  /// Takes a tag of the session away, and waits until the session reports that.
  package func takeAway(
    _ id: TagID, _ tag: SessionTag, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    await reader.remove(id)
    let number = try await sessionRemoval()
    #expect(number == tag.placement.number, sourceLocation: sourceLocation)
  }

  /// The number of the next placement in the session that ends.
  package func sessionRemoval() async throws -> UInt64 {
    try await next("a removal") { if case .sessionTagRemoved(_, let number) = $0 { number } else { nil } }
  }

  /// The tags that sessions have reported so far.
  package var reported: [SessionTag] { seen.compactMap { if case .sessionTag(_, let tag) = $0 { tag } else { nil } } }

  package func ask(_ operation: ReaderOperation, _ tag: SessionTag, request: UInt64 = 1, session: UInt64 = 1) async {
    await process.perform(operation, request: request, placement: tag.placement.number, session: session)
  }

  package func perform(
    _ operation: ReaderOperation, _ tag: SessionTag, request: UInt64 = 1, session: UInt64 = 1
  ) async throws -> ReaderOperationResult {
    await ask(operation, tag, request: request, session: session)
    return try await result(request)
  }

  package func result(_ request: UInt64 = 1) async throws -> ReaderOperationResult {
    try await next("an answer") { if case .performed(request, let result) = $0 { result } else { nil } }
  }

  package func transceive(_ command: [UInt8], _ tag: SessionTag, timeout: UInt32 = 5000) async throws -> [UInt8] {
    let result = try await perform(.transceive(command, timeout: timeout), tag)
    guard case .answer(let bytes) = result else { throw await failure("expected an answer, got \(result)") }
    return bytes
  }
}

/// An encoded message with one URI.
package func uri(_ text: String) throws -> [UInt8] { try NDEFMessage.uri(text).encoded() }

/// Scenarios that every reader program passes, in a session that has begun.
extension ReaderProcessRig {
  /// Performs each operation on a tag of this kind, in one placement. `locking` is why the tag cannot be made read-only
  /// on this reader; nil if it can.
  package func performsEachOperation(on kind: TagKind, locking: ReaderOperationFailure? = nil) async throws {
    let (old, new) = (try uri("https://example.com/old"), try uri("https://example.com/new/and/longer"))
    let tag = try await finds(try kind.make(old)).tag
    guard case .status(.readWrite, let capacity) = try await perform(.query, tag) else {
      throw await failure("expected a status, got \(seen.suffix(1))")
    }
    let long = [UInt8](repeating: 0, count: Int(capacity) + 1)
    var results = [try await perform(.read, tag), try await perform(.write(new, verify: true), tag)]
    results.append(try await perform(.read, tag))
    #expect(results == [.message(old), .done, .message(new)])
    #expect(try await perform(.write(long, verify: false), tag).failure == .tooLong)
    #expect(try await perform(.write([], verify: true), tag) == .done)
    #expect(try await perform(.read, tag).failure == .empty)
    #expect(try await perform(.write(old, verify: false), tag) == .done)
    let locked = try await perform(.lock, tag)
    if let locking {
      #expect(locked.failure == locking, "\(locked)")
      #expect(try await perform(.query, tag) == .status(.readWrite, capacity: capacity))
    } else {
      #expect(locked == .done)
      #expect(try await perform(.query, tag) == .status(.readOnly, capacity: capacity))
      #expect(try await perform(.write(new, verify: false), tag).failure == .readOnly)
    }
    #expect(try await perform(.read, tag) == .message(old))
    #expect(reported.count == 1)
    #expect(!seen.contains { if case .sessionTagRemoved = $0 { true } else { false } })
  }

  /// Operations on a payment card, and on a card with a damaged message, fail with the reason.
  package func refusesOperationsWithoutMessage() async throws {
    let (id, card) = try await finds(.paymentCard())
    #expect(try await perform(.query, card) == .status(.notSupported, capacity: 0))
    #expect(try await perform(.read, card).failure == .notSupported)
    #expect(try await perform(.write([], verify: false), card).failure == .notSupported)
    try await takeAway(id, card)
    let options = Type4Options { $0.declaredLength = 0xFFF0 }
    let (other, damaged) = try await finds(try .type4(message: uri("https://example.com"), options: options))
    #expect(try await perform(.read, damaged).failure == .refused)
    #expect(try await perform(.lock, damaged).failure == .refused)
    try await takeAway(other, damaged)
  }

  /// The results of several requests come in their order.
  package func performsInOrder() async throws {
    let bytes = try uri("https://example.com/" + String(repeating: "x", count: 400))
    let tag = try await finds(try .type2(.ntag215, message: bytes)).tag
    for request in 1...5 { await ask(request.isMultiple(of: 2) ? .query : .read, tag, request: UInt64(request)) }
    for request in 1...5 {
      let result = try await result(UInt64(request))
      #expect(result == (request.isMultiple(of: 2) ? .status(.readWrite, capacity: 492) : .message(bytes)))
    }
  }
}

package enum TagKind: CaseIterable, Sendable {
  case type1, type2, type3, type4A, type4B, type5, mifareClassic

  /// The kinds that a PN53x can find.
  package static let ofPN53x = allCases.filter { $0 != .type5 }

  /// A tag with this message that everyone may write and lock.
  package func make(_ message: [UInt8]) throws -> SimulatedTag {
    let options = Type4Options { $0.containerIsWritable = true }
    return switch self {
    case .type1: try .type1(.topaz96, message: message)
    case .type2: try .type2(.ntag215, message: message)
    case .type3: try .type3(message: message)
    case .type4A: try .type4(message: message, options: options)
    case .type4B: try .type4B(message: message, options: options)
    case .type5: try .type5(.slix2, message: message)
    case .mifareClassic: try .mifareClassic(.classic1K, message: message)
    }
  }
}

extension TagReport {
  /// Why there is no message; nil if there is one.
  package var problem: String? {
    switch content {
    case .message: nil
    case .bare(let reason), .damaged(let reason, _), .problem(let reason): reason
    }
  }

  /// Whether the tag is known to have no message.
  package var isBare: Bool { if case .bare = content { true } else { false } }
}

extension ReaderOperationResult {
  /// Why the operation failed; nil if it did not.
  package var failure: ReaderOperationFailure? { if case .failed(let failure, _) = self { failure } else { nil } }

  /// Why the operation failed, in words.
  package var reason: String? { if case .failed(_, let reason) = self { reason } else { nil } }
}

extension ReaderProcessEvent {
  /// Whether the process ended without being stopped.
  package var isCrash: Bool { if case .crashed = self { true } else { false } }

  /// Whether the device is lost. Every reader session then ends.
  package var isLoss: Bool {
    switch self {
    case .phase(.failed, _), .phase(.absent, _): true
    default: false
    }
  }
}
