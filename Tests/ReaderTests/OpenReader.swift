import Dispatch
import EventLoop
import Glibc
import ReaderSimulator
import Tags

@testable import Reader

/// A simulated reader that the real libnfc has open, for a body that blocks as libnfc does.
///
///     try await withOpenReader { reader in
///       let tag = reader.place(try .type2(.ntag215, message: message))
///       var channel = try reader.select(.typeA)
///       let content = try channel.tag.readNDEF(over: &channel)
///     }
struct OpenReader: ~Copyable {
  struct NoTag: Error {}

  let device: Device
  let simulator: SimulatedReader

  /// A tag that is found anew, with the field off before.
  ///
  /// - Parameters:
  ///   - modulation: what finds it.
  ///   - doubtsRepetitions: as the program does, where data that is the same as the data before costs an exchange more.
  /// - Returns: the way to the tag.
  /// - Throws: `NoTag`, or where the reader fails.
  func select(_ modulation: Modulation, doubtsRepetitions: Bool = false) throws -> TargetChannel {
    try device.release()
    guard let tag = try device.select(modulation) else { throw NoTag() }
    return TargetChannel(device, tag, doubtsRepetitions: doubtsRepetitions)
  }

  func place(_ tag: SimulatedTag) -> TagID { onSimulator { await $0.place(tag) } }

  /// Takes the tag away, or finds the one that a fault took away.
  func remove(_ id: TagID) -> SimulatedTag? { onSimulator { await $0.remove(id) } }

  /// All that is in the tag's memory; nil where it does not lie there.
  func memory(of id: TagID) -> [UInt8]? { onSimulator { await $0.memory(of: id) } }

  func add(_ fault: Fault) { onSimulator { await $0.add(fault) } }

  /// How often a fault has struck since they were cleared.
  var strikes: Int { onSimulator { await $0.strikes } }

  func clearFaults() { onSimulator { await $0.clearFaults() } }

  /// What came of an action on a tag.
  struct Attempt {
    /// All that was in the tag's memory.
    let before: [UInt8]
    /// The tag afterwards, which does not lie there any more.
    let tag: SimulatedTag
    let failure: (any Error)?
    /// Exchanges that the action took.
    let exchanges: UInt64
    /// Whether the fault has struck.
    let isStruck: Bool
  }

  /// Puts a tag there, does something with it while something goes wrong, and takes it away, if that is not what went wrong.
  func attempt(
    on tag: SimulatedTag, _ modulation: Modulation, _ fault: Fault?, _ act: (inout TargetChannel) throws -> Void
  ) throws -> Attempt {
    let id = place(tag)
    let before = memory(of: id) ?? []
    var channel = try select(modulation)
    if let fault { add(fault) }
    var failure: (any Error)?
    do { try act(&channel) } catch { failure = error }
    let isStruck = strikes > 0
    clearFaults()
    guard let tag = remove(id) else { throw NoTag() }
    return Attempt(before: before, tag: tag, failure: failure, exchanges: channel.exchanges, isStruck: isStruck)
  }

  /// Does something with a tag that lies there for so long.
  func withTag<Result>(
    _ tag: SimulatedTag, _ modulation: Modulation, _ body: (inout TargetChannel) throws -> Result
  ) throws -> Result {
    let id = place(tag)
    defer { _ = remove(id) }
    var channel = try select(modulation)
    return try body(&channel)
  }

  /// All that is in the memory of a tag that does not lie there.
  func memory(of tag: SimulatedTag) -> [UInt8] {
    let id = place(tag)
    defer { _ = remove(id) }
    return memory(of: id) ?? []
  }

  /// What the chip has done since the last time.
  func takeCounters() -> Counters {
    onSimulator { simulator in
      let counters = await simulator.counters
      await simulator.resetCounters()
      return counters
    }
  }

  /// Waits for the simulator, which has a thread of its own.
  func onSimulator<Result: Sendable>(_ body: @escaping @Sendable (SimulatedReader) async -> Result) -> Result {
    let simulator = simulator
    return blockingWait { await body(simulator) }
  }
}

/// Runs a body with an open reader on a thread of its own.
func withOpenReader<Result: Sendable>(
  timing: TimingModel = .immediate, _ body: @escaping @Sendable (borrowing OpenReader) throws -> Result
) async throws -> Result {
  let simulator = try await SimulatedReader.start(timing: timing)
  let connectionString = await simulator.connectionString
  let result = try await DedicatedThread.run {
    Swift.Result {
      let device = try Device.open(connectionString, NFCContext.shared.pointer)
      return try body(OpenReader(device: device, simulator: simulator))
    }
  }
  await simulator.stop()
  return try result.get()
}

/// Blocks the calling thread, which must be nobody else's, until `body` is done.
private func blockingWait<Result: Sendable>(_ body: @escaping @Sendable () async -> Result) -> Result {
  let answer = Answer<Result>()
  Task.detached { answer.give(await body()) }
  return answer.wait()
}

/// `@unchecked` because the semaphore orders the one write before the one read.
private final class Answer<Value: Sendable>: @unchecked Sendable {
  private let isThere = DispatchSemaphore(value: 0)
  private var value: Value?

  func give(_ value: Value) {
    self.value = value
    isThere.signal()
  }

  func wait() -> Value {
    isThere.wait()
    guard let value else { preconditionFailure("signalled without a value") }
    return value
  }
}

/// One context for all tests: `nfc_init` fills a table of drivers that all contexts share.
///
/// `@unchecked` because opening a device only reads the context.
struct NFCContext: @unchecked Sendable {
  static let shared = NFCContext()

  let pointer: OpaquePointer

  private init() {
    setenv("LIBNFC_AUTO_SCAN", "false", 1)
    guard let pointer = Device.makeContext() else { preconditionFailure("libnfc has no memory") }
    self.pointer = pointer
  }
}
