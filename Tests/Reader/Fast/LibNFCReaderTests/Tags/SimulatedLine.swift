@testable import LibNFCReader
@testable import ReaderSimulator

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
    case PN532Status.timeout, PN532Status.crcError, PN532Status.bitCollision, PN532Status.protocolError,
      PN532Status.wrongContext:
      .silence
    // The target was released.
    case PN532Status.targetGone: .refused(-10)
    default: .refused(-90)
    }
  }
}
