import ReaderModels
import Tags

@testable import LibNFCReader
@testable import PCSCReader
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

  /// The chip of a `recording` answers first.
  init(timing: TimingModel = .immediate, recording: TraceReplay? = nil) throws {
    line = SimulatedLine(timing: timing)
    line.chip.recording = recording
    device = try NFCDevice(line, "simulated")
  }

  /// Switches the field off and selects a tag. Throws `NoTag` if no tag answers. `doubtsRepetitions`: whether to repeat
  /// an exchange if its data equals the previous data, as the program does.
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
  func takeCounters() -> ChipCounters {
    defer { line.chip.resetCounters(at: line.time) }
    return line.chip.counters(at: line.time)
  }

  /// The result of an action on a tag.
  struct Attempt {
    /// The tag after the action. It is no longer on the reader.
    let tag: SimulatedTag
    let failure: (any Error)?
    let exchanges: UInt64
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
  var memory: [UInt8] { tag.memory }
}

/// The simulated chip in the place of libnfc and a device. Its answers take the time of the timing model, on a clock
/// that only this line moves.
final class SimulatedLine: ChipLine {
  let name = "simulated chip"
  private(set) var now = SuspendingClock.now
  private let start: SuspendingClock.Instant
  var chip: PN532Chip

  init(timing: TimingModel) {
    start = now
    chip = PN532Chip(timing: timing)
  }

  /// The time on the chip's clock.
  var time: Duration { start.duration(to: now) }

  func sleep(for duration: Duration) { now = now.advanced(by: max(duration, .zero)) }

  func transceive(_ command: [UInt8], answerRoom: Int, within time: Duration) -> LineAnswer {
    guard let code = command.first else { return .gone }
    var answer: [UInt8] = []
    while true {
      // The rest of a long answer is requested with the number of the target alone.
      switch receive(answer.isEmpty ? command : Array(command.prefix(2)), within: time) {
      case .bytes(let bytes): answer = Array(bytes.prefix(1) + answer.dropFirst() + bytes.dropFirst())
      case let other: return other
      }
      guard code == NFCDevice.Command.exchange, answer.first.map({ $0 & PN532Status.moreInformation != 0 }) == true
      else { break }
    }
    guard answer.count <= answerRoom else { return .refused(0) }
    let hasStatus = PN532Command(rawValue: code)?.answersWithStatus ?? false
    let isPresenceCheck = code == NFCDevice.Command.diagnose && command.dropFirst().first == 0x06
    guard hasStatus || isPresenceCheck, let status = answer.first else { return .bytes(answer) }
    return Self.examine(status & 0x3F, answer)
  }

  /// Sends one command. The frames of the answer have passed the line when this returns.
  private func receive(_ command: [UInt8], within limit: Duration) -> LineAnswer {
    let sent = chip.receive(.information([HostFrame.hostIdentifier] + command), at: time)
      .compactMap { if case .send(let bytes, let delay) = $0 { (bytes, delay) } else { nil } }
    // The first frame acknowledges the command.
    guard sent.count > 1, let (bytes, delay) = sent.last, delay <= limit else {
      sleep(for: limit)
      return .timeout
    }
    sleep(for: delay)
    var decoder = HostFrameDecoder()
    guard case .information(let payload)? = decoder.append(bytes).last, payload.count >= 2,
      payload[1] == command[0] &+ 1
    else { return .gone }
    return .bytes(Array(payload.dropFirst(2)))
  }

  /// As `pn53x_transceive` of libnfc 1.8.
  private static func examine(_ status: UInt8, _ answer: [UInt8]) -> LineAnswer {
    switch status {
    case PN532Status.success: .bytes(answer)
    case PN532Status.authenticationError: .wrongKey
    case PN532Status.timeout, PN532Status.crcError, PN532Status.bitCollision, PN532Status.protocolError: .silence
    // NFC_EINVARG.
    case PN532Status.wrongContext: .refused(-2)
    // The target was released.
    case PN532Status.targetGone: .refused(-10)
    default: .refused(-90)
    }
  }
}

/// A card in the contactless slot of a simulated PC/SC reader, without pcscd.
///
///     var channel = try SlotConnection.channel(to: try .type2(.ntag215, message: message), on: .acr122U)
///     let content = try channel.tag.readNDEF(over: &channel)
struct SlotConnection: CardConnection {
  struct NoTag: Error {}

  private var interface: ContactlessInterface

  private init(_ tag: SimulatedTag, _ model: CardReaderModel) throws {
    interface = ContactlessInterface(model: model)
    guard interface.place(.contactless(tag.tag), as: TagID(number: 1)) else { throw NoTag() }
  }

  /// Identifies a storage card of Type A, as the reader program does.
  static func channel(to tag: SimulatedTag, on model: CardReaderModel) throws -> CardChannel<SlotConnection> {
    let known = ReaderModel.find(vendor: model.vendor, product: model.product) ?? .generic
    var link = CardLink(try SlotConnection(tag, model), model: known)
    guard case .tag(let tag) = try link.identify(.storage(StorageCard(standard: .typeA, name: 0x0003))) else {
      throw NoTag()
    }
    return CardChannel(link, tag: tag)
  }

  var memory: [UInt8] { interface.memory ?? [] }

  mutating func transmit(_ command: [UInt8]) throws(CardFailure) -> [UInt8] {
    let answer = interface.transmit(command)
    guard answer.response == .success else { throw .exchange("the card does not answer") }
    return answer.data
  }

  mutating func reset() throws(CardFailure) {
    interface.powerDown()
    guard interface.powerUp() != nil else { throw .removed }
  }
}
