import Testing

@testable import ReaderSimulator

/// A chip without a line. It gets commands and returns answers directly.
final class ChipDriver {
  var chip: PN532Chip
  var now = Duration.zero
  private var tags: UInt64 = 0

  init(_ timing: TimingModel = .immediate) { chip = PN532Chip(timing: timing) }

  /// A chip with a tag. A select sends one request.
  convenience init(with tag: SimulatedTag) {
    self.init()
    _ = send(oneRequest)
    _ = place(tag)
  }

  /// A chip that has selected this tag of Type A.
  static func selected(_ tag: SimulatedTag) -> ChipDriver {
    let driver = ChipDriver(with: tag)
    _ = driver.send(select)
    return driver
  }

  func place(_ tag: SimulatedTag) -> [PN532Chip.Action] {
    tags += 1
    chip.radio.field.place(tag.tag, as: TagID(number: tags), at: now)
    return chip.fieldChanged(at: now)
  }

  func send(_ command: [UInt8]) -> [PN532Chip.Action] { chip.receive(.information([0xD4] + command), at: now) }

  /// Returns the answer after its code; nil for an error frame or no answer.
  func answer(_ command: [UInt8]) -> [UInt8]? {
    guard case .information(let payload)? = Self.frames(send(command)).last, payload[0] == 0xD5,
      payload[1] == command[0] + 1
    else { return nil }
    return Array(payload.dropFirst(2))
  }

  /// Requires these answers to these commands, in order; nil for an error frame or no answer.
  func expect(_ exchanges: [([UInt8], [UInt8]?)], sourceLocation: SourceLocation = #_sourceLocation) {
    for (number, (command, expected)) in exchanges.enumerated() {
      let answer = answer(command)
      #expect(answer == expected, "exchange \(number)", sourceLocation: sourceLocation)
    }
  }

  /// Returns a tag that a fault removed.
  func takeBack(_ number: UInt64) -> (any FieldTag)? { chip.radio.forgetTakenAway(TagID(number: number)) }

  static func frames(_ actions: [PN532Chip.Action]) -> [HostFrame] {
    var decoder = HostFrameDecoder()
    return actions.flatMap { action -> [HostFrame] in
      if case .send(let bytes, _) = action { decoder.append(bytes) } else { [] }
    }
  }

  /// The time until the last frame of the answer is complete.
  static func duration(_ actions: [PN532Chip.Action]) -> Duration {
    actions.reduce(.zero) { latest, action in
      if case .send(_, let after) = action { max(latest, after) } else { latest }
    }
  }
}

extension CardApplication {
  mutating func expect(_ exchanges: [([UInt8], [UInt8])], sourceLocation: SourceLocation = #_sourceLocation) {
    for (number, (command, expected)) in exchanges.enumerated() {
      let answer = respond(to: command)
      #expect(answer == expected, "exchange \(number)", sourceLocation: sourceLocation)
    }
  }
}

let uid7: [UInt8] = [0x04, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66]
/// Selects one Type A tag, with the configured number of retries.
let select: [UInt8] = [0x4A, 0x01, 0x00]
/// MxRtyPassiveActivation 0: one request.
let oneRequest: [UInt8] = [0x32, 0x05, 0x00, 0x00, 0x00]

func type2(_ model: SimulatedType2Model = .ntag215, _ message: [UInt8] = [0xD0, 0x00, 0x00]) throws -> SimulatedTag {
  try .type2(model, message: message, uid: .fixed(uid7))
}

/// A contactless slot without pcscd.
struct SlotDriver {
  var interface: ContactlessInterface

  /// Puts a tag on a reader of this model. Fails if the reader does not find it.
  init(_ model: CardReaderModel, _ tag: SimulatedTag) throws {
    interface = ContactlessInterface(model: model)
    guard interface.place(.contactless(tag.tag), as: TagID(number: 1)), interface.powerUp() != nil else {
      throw SimulatorError("\(model.name) does not find the tag")
    }
  }

  /// The answer to a command, both in hexadecimal digits with spaces anywhere; "failed" if the exchange fails.
  mutating func send(_ command: String) throws -> String {
    guard let bytes = HexText.bytes(command.filter { $0 != " " }) else {
      throw SimulatorError("\(command): not hexadecimal")
    }
    let answer = interface.transmit(bytes)
    return answer.response == .success ? HexText.string(answer.data) : "failed"
  }

  mutating func expect(_ exchanges: [(String, String)], sourceLocation: SourceLocation = #_sourceLocation) throws {
    for (command, expected) in exchanges {
      let answer = try send(command)
      #expect(answer == expected, "\(command)", sourceLocation: sourceLocation)
    }
  }
}
