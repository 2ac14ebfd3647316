import Dispatch
import EventLoop
import Glibc
import ReaderSimulator
import Tags

@testable import Framing
@testable import LibNFCReader
@testable import Reader

/// A simulated reader that is open in the real libnfc. All calls block, as those of libnfc do.
///
///     try await withOpenReader { reader in
///       let tag = reader.place(try .type2(.ntag215, message: message))
///       var channel = try reader.select(.typeA)
///       let content = try channel.tag.readNDEF(over: &channel)
///     }
struct OpenReader: ~Copyable {
  struct NoTag: Error {}

  let device: NFCDevice
  let simulator: SimulatedReader

  /// Switches the field off and selects a tag.
  ///
  /// - Parameters:
  ///   - modulation: the modulation to poll with.
  ///   - doubtsRepetitions: whether to repeat an exchange if its data equals the previous data, as the program does.
  /// - Returns: the channel to the tag.
  /// - Throws: `NoTag` if no tag answers, or the reader's failure.
  func select(_ modulation: Modulation, doubtsRepetitions: Bool = false) throws -> TargetChannel {
    try device.release()
    guard let tag = try device.select(modulation) else { throw NoTag() }
    return TargetChannel(device, tag, doubtsRepetitions: doubtsRepetitions)
  }

  func place(_ tag: SimulatedTag) -> TagID { onSimulator { await $0.place(tag) } }

  /// Removes the tag, or returns the tag that a fault has removed.
  func remove(_ id: TagID) -> SimulatedTag? { onSimulator { await $0.remove(id) } }

  /// The tag's whole memory; nil if the tag is not on the reader.
  func memory(of id: TagID) -> [UInt8]? { onSimulator { await $0.memory(of: id) } }

  func add(_ fault: Fault) { onSimulator { await $0.add(fault) } }

  /// How often faults have struck since the last `clearFaults()`.
  var strikes: Int { onSimulator { await $0.strikes } }

  func clearFaults() { onSimulator { await $0.clearFaults() } }

  /// The result of an action on a tag.
  struct Attempt {
    /// The tag's whole memory before the action.
    let before: [UInt8]
    /// The tag after the action. It is no longer on the reader.
    let tag: SimulatedTag
    let failure: (any Error)?
    /// The number of exchanges of the action.
    let exchanges: UInt64
    /// Whether the fault has struck.
    let isStruck: Bool
  }

  /// Places a tag and runs `act` on it with a fault. Removes the tag unless the fault has removed it.
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

  /// Runs `body` on a tag that is on the reader during this call.
  func withTag<Result>(
    _ tag: SimulatedTag, _ modulation: Modulation, _ body: (inout TargetChannel) throws -> Result
  ) throws -> Result {
    let id = place(tag)
    defer { _ = remove(id) }
    var channel = try select(modulation)
    return try body(&channel)
  }

  /// The whole memory of a tag that is not on the reader.
  func memory(of tag: SimulatedTag) -> [UInt8] {
    let id = place(tag)
    defer { _ = remove(id) }
    return memory(of: id) ?? []
  }

  /// The chip's counters since the last call.
  func takeCounters() -> Counters {
    onSimulator { simulator in
      let counters = await simulator.counters
      await simulator.resetCounters()
      return counters
    }
  }

  /// Waits until `body` is done. The simulator has its own thread.
  func onSimulator<Result: Sendable>(_ body: @escaping @Sendable (SimulatedReader) async -> Result) -> Result {
    let simulator = simulator
    return blockingWait { await body(simulator) }
  }
}

/// Runs `body` with an open reader on a dedicated thread.
func withOpenReader<Result: Sendable>(
  timing: TimingModel = .immediate, _ body: @escaping @Sendable (borrowing OpenReader) throws -> Result
) async throws -> Result {
  let simulator = try await SimulatedReader.start(timing: timing)
  let connectionString = await simulator.connectionString
  let result = try await DedicatedThread.run {
    Swift.Result {
      let device = try NFCDevice.open(connectionString, NFCContext.shared.pointer)
      return try body(OpenReader(device: device, simulator: simulator))
    }
  }
  await simulator.stop()
  return try result.get()
}

/// Blocks the calling thread until `body` is done. No other work may share this thread.
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
    guard let pointer = NFCDevice.makeContext() else { preconditionFailure("libnfc has no memory") }
    self.pointer = pointer
  }
}
