import Tags

@testable import LibNFCReader
@testable import ReaderSimulator

/// The reader program's device on the simulated chip, without a line, a thread or a real clock.
///
///     let reader = try OpenReader()
///     let tag = reader.place(try .type2(.ntag215, message: message))
///     var channel = try reader.select(.typeA)
///     let content = try channel.tag.readNDEF(over: &channel)
final class OpenReader {
  struct NoTag: Error {}

  let device: NFCDevice
  private let line: SimulatedLine
  private var placed: UInt64 = 0

  init(timing: TimingModel = .immediate) throws {
    line = SimulatedLine(timing: timing)
    device = try NFCDevice(line, "simulated")
  }

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

  func place(_ tag: SimulatedTag) -> TagID {
    placed += 1
    let id = TagID(number: placed)
    line.chip.radio.field.place(tag.tag, as: id, at: line.time)
    return id
  }

  /// Removes the tag, or returns the tag that a fault has removed.
  @discardableResult func remove(_ id: TagID) -> SimulatedTag? {
    (line.chip.radio.field.remove(id) ?? line.chip.radio.forgetTakenAway(id)).map(SimulatedTag.init)
  }

  /// The tag's whole memory; nil if the tag is not on the reader.
  func memory(of id: TagID) -> [UInt8]? { line.chip.radio.field.memory(of: id) }

  func add(_ fault: Fault) { line.chip.radio.faults.add(fault) }

  /// The chip's counters since the last call.
  func takeCounters() -> Counters {
    defer { line.chip.resetCounters(at: line.time) }
    return line.chip.counters(at: line.time)
  }

  /// The result of an action on a tag.
  struct Attempt {
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
    on tag: SimulatedTag, _ modulation: Modulation, _ fault: Fault? = nil, _ act: (inout TargetChannel) throws -> Void
  ) throws -> Attempt {
    let id = place(tag)
    var channel = try select(modulation)
    if let fault { add(fault) }
    var failure: (any Error)?
    do { try act(&channel) } catch { failure = error }
    let isStruck = line.chip.radio.faults.strikes > 0
    line.chip.radio.faults.clear()
    guard let tag = remove(id) else { throw NoTag() }
    return Attempt(tag: tag, failure: failure, exchanges: channel.exchanges, isStruck: isStruck)
  }

  /// Runs `body` on a tag that is on the reader during this call.
  func withTag<Result>(
    _ tag: SimulatedTag, _ modulation: Modulation, _ body: (inout TargetChannel) throws -> Result
  ) throws -> Result {
    let id = place(tag)
    defer { remove(id) }
    var channel = try select(modulation)
    return try body(&channel)
  }
}

extension SimulatedTag {
  /// The whole memory.
  var memory: [UInt8] { tag.memory }
}
