// Modules: NDEF Names Tags

import NDEF
import Names
import Tags

/// A hostile tag. The first byte of the input selects its kind, and the second the length of a message to write. The
/// others are its answers to all commands. Reading, querying, writing and locking must end. The bytes that the tag has
/// really returned, and was really sent, bound the number of exchanges. The length that the tag claims must not
/// increase it.
@c(LLVMFuzzerTestOneInput)
public func fuzzTag(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = Array(UnsafeBufferPointer(start: start, count: count))
  guard input.count > 2 else { return 0 }
  let kinds = Kind.all
  let kind = kinds[Int(input[0]) % kinds.count]
  let tag = kind.activation
  var channel = HostileTag(kind: kind, script: Array(input[2...]))

  if case .message(let message)? = try? tag.readNDEF(over: &channel) {
    require((try? NDEFMessage(decoding: message)) != nil, "what is read is a message")
    require(message.count <= channel.given, "the message is no longer than what the tag has said")
  }
  channel.rewind()
  if let status = try? tag.queryNDEF(over: &channel) {
    require(status.capacity >= 0 && (status.access != .notSupported || status.capacity == 0), "a capacity makes sense")
  }
  channel.rewind()
  channel.mayBeWritten = true
  let message = [UInt8](repeating: 0x5A, count: Int(input[1]) * 8)
  channel.written = message.count
  try? tag.writeNDEF(message, isVerifying: count % 2 == 0, over: &channel)
  channel.rewind()
  try? tag.lockNDEF(over: &channel)
  channel.rewind()
  return 0
}

/// A kind of tag: its activation, and the form of a valid answer to a command.
private struct Kind: Sendable {
  let activation: TagActivation
  /// The form of a valid answer: the bytes before and after those from the script, and how many come from the script.
  /// Nil if silence is the right answer.
  let form: @Sendable (_ command: [UInt8]) -> (before: [UInt8], count: Int, after: [UInt8])?
  /// Whether the reader can only read and write single pages or blocks.
  var isLimited = false

  static let all: [Kind] = [
    type2,
    Kind(
      activation: .typeA(TypeAActivation(atqa: [3, 0x44], sak: 0x20, uid: uid, ats: [1])),
      form: apdu),
    Kind(
      activation: .typeB(
        TypeBActivation(
          pupi: [1, 2, 3, 4], applicationData: [0, 0, 0, 0], protocolInfo: [0, 1, 0], attribResponse: [])), form: apdu),
    Kind(
      activation: .felica(FeliCaActivation(idm: idm, pmm: idm, systemCode: [0x12, 0xFC], bitRate: 212)), form: felica),
    Kind(activation: .jewel(JewelActivation(atqa: [0, 0x0C], uid: [1, 2, 3, 4])), form: jewel),
    Kind(
      activation: .typeA(TypeAActivation(atqa: [0, 4], sak: 0x08, uid: [1, 2, 3, 4])),
      form: classic),
    // A FeliCa Lite, recognised by its IC code, that answered a poll for another system.
    Kind(
      activation: .felica(
        FeliCaActivation(idm: idm, pmm: [0, 0xF1, 0, 0, 0, 1, 0x43, 0], systemCode: [0x88, 0xB4], bitRate: 212)),
      form: felica),
    Kind(
      activation: .typeA(TypeAActivation(atqa: [0, 2], sak: 0x18, uid: [1, 2, 3, 4])),
      form: classic),
    Kind(activation: typeV) { command in type5(command, magic: 0xE1, blockSize: 4) },
    Kind(activation: typeV) { command in type5(command, magic: 0xE2, blockSize: 8) },
    Kind(activation: typeV, form: { command in type5(command, magic: 0xE2, blockSize: 4) }, isLimited: true),
    Kind(activation: type2.activation, form: type2.form, isLimited: true),
    Kind(activation: .typeA(TypeAActivation(type: .mifareClassic, uid: [1, 2, 3, 4])), form: classic),
  ]

  private static let uid: [UInt8] = [4, 1, 2, 3, 4, 5, 6]
  private static let idm: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]
  private static let typeV = TagActivation.typeV(TypeVActivation(uid: [0xE0, 4, 1, 2, 3, 4, 5, 6]))

  private static let type2 = Kind(
    activation: .typeA(TypeAActivation(atqa: [0, 0x44], sak: 0, uid: uid))
  ) { command in
    switch (command.first, command.count) {
    case (0x30, 2): command[1] < 4 ? ([0xE1, 0x10], 14, []) : ([], 16, [])
    case (0x3A, 3): ([], max(0, Int(command[2]) - Int(command[1]) + 1) * 4, [])
    case (0x60, 1): ([0, 4], 6, [])
    case (_, 4): nil
    default: ([0x0A], 0, [])
    }
  }

  @Sendable private static func apdu(_ command: [UInt8]) -> (before: [UInt8], count: Int, after: [UInt8])? {
    command.count > 4 && command[1] == 0xB0 ? ([], command.last.map(Int.init) ?? 0, [0x90, 0]) : ([], 0, [0x90, 0])
  }

  @Sendable private static func felica(_ command: [UInt8]) -> (before: [UInt8], count: Int, after: [UInt8])? {
    guard command.count > 12 else { return ([0x01] + idm + idm, 2, []) }
    let blocks = command[12]
    return command[0] == 0x06
      ? ([0x07] + idm + [0, 0, blocks], Int(blocks) * 16, []) : ([command[0] &+ 1] + idm + [0, 0], 0, [])
  }

  @Sendable private static func jewel(_ command: [UInt8]) -> (before: [UInt8], count: Int, after: [UInt8])? {
    switch command.first {
    case 0x00: ([0x12, 0x4C, 1, 2, 3, 4, 5, 6, 7, 0, 0xE1, 0x10], 110, [])
    case 0x10: (Array(command.dropFirst().prefix(1)), 128, [])
    case 0x02: (Array(command.dropFirst().prefix(1)), 8, [])
    case 0x54, 0x1B: (Array(command.dropFirst().prefix(9)), 0, [])
    default: (Array(command.dropFirst().prefix(2)), 0, [])
    }
  }

  @Sendable private static func type5(
    _ command: [UInt8], magic: UInt8, blockSize: Int
  ) -> (before: [UInt8], count: Int, after: [UInt8])? {
    guard command.count > 2 else { return nil }
    let isExtended = command[1] & 0x10 != 0
    // Behind the number of the first block: the number of blocks minus one.
    let count = 1 + command.dropFirst(isExtended ? 4 : 3).prefix(2).reversed().reduce(0) { $0 << 8 | Int($1) }
    switch command[1] & 0xEF {
    case 0x20:
      return !isExtended && command[2] == 0 ? ([0x00, magic, 0x40], blockSize - 2, []) : ([0x00], blockSize, [])
    case 0x23: return ([0x00], count * blockSize, [])
    case 0x2C: return ([0x00], count, [])
    default: return ([0x00], 0, [])
    }
  }

  /// A directory that assigns every sector to NDEF, with its checksum. All other blocks come from the script.
  @Sendable private static func classic(_ command: [UInt8]) -> (before: [UInt8], count: Int, after: [UInt8])? {
    guard command.count == 2, command[0] == 0x30 else { return ([], 0, []) }
    let application: [UInt8] = [0x03, 0xE1]
    switch command[1] {
    case 1: return ([0x0F, 0x00] + Array(repeating: application, count: 7).joined(), 0, [])
    case 64: return ([0x9E, 0x00] + Array(repeating: application, count: 7).joined(), 0, [])
    case 2, 65, 66: return (Array(Array(repeating: application, count: 8).joined()), 0, [])
    default: return ([], 16, [])
    }
  }

  /// Whether a command changes a tag of any kind.
  func isWrite(_ command: [UInt8]) -> Bool {
    switch activation {
    case .typeA(let tag) where tag.type == .type2: command.count == 6 && command[0] == 0xA2
    case .typeA(let tag) where tag.type == .mifareClassic: command[0] == 0xA0
    case .typeA, .typeB: command.count > 1 && [0xD6, 0xD7].contains(command[1])
    case .felica: command[0] == 0x08
    case .jewel: [0x53, 0x1A, 0x54, 0x1B].contains(command[0])
    case .typeV: command.count > 1 && [0x21, 0x22, 0x31, 0x32].contains(command[1])
    }
  }

  func canSend(_ command: [UInt8]) -> Bool {
    guard isLimited else { return true }
    return if case .typeV = activation {
      command.count > 1 && [0x20, 0x21].contains(command[1])
    } else {
      [0x30, 0xA2].contains(command[0])
    }
  }
}

/// Answers from the script, which starts over at its end.
private struct HostileTag: TagChannel {
  let kind: Kind
  let script: [UInt8]
  /// Whether commands that write are allowed now.
  var mayBeWritten = false
  private var place = 0
  private var exchanges = 0
  /// Bytes of answers in this operation.
  private(set) var given = 0
  /// Bytes of the message to write in this operation.
  var written = 0

  init(kind: Kind, script: [UInt8]) {
    self.kind = kind
    self.script = script
  }

  mutating func exchange(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
    count()
    require(mayBeWritten || !kind.isWrite(command), "nothing is written to find something out")
    require(kind.canSend(command), "no command is sent that the reader cannot send")
    let answer: [UInt8]
    switch next() {
    case 0xFF: throw TagChannelError(.noAnswer, "script")
    case 0xFE: throw TagChannelError(.transmission, "script")
    case 0xFD: answer = take(Int(next()))
    default:
      guard let form = kind.form(command) else { throw TagChannelError(.noAnswer, "silence") }
      answer = form.before + take(form.count) + form.after
    }
    given += answer.count
    return answer
  }

  mutating func reselect() throws(TagChannelError) {
    count()
    if next() == 0xFF { throw TagChannelError(.noAnswer, "script") }
  }

  func canSend(_ command: [UInt8]) -> Bool { kind.canSend(command) }

  /// Starts the script over for the next operation.
  mutating func rewind() {
    place = 0
    exchanges = 0
    given = 0
    written = 0
  }

  private mutating func count() {
    exchanges += 1
    let type = kind.activation.type
    let most = mayBeWritten ? type.mostExchanges(writing: given + written) : type.mostExchanges(reading: given)
    require(exchanges <= most, "an operation ends within \(most) exchanges")
  }

  private mutating func next() -> UInt8 {
    defer { place = (place + 1) % script.count }
    return script[place]
  }

  private mutating func take(_ count: Int) -> [UInt8] { (0..<count).map { _ in next() } }
}

/// Ends the process, which the fuzzer reports as a failure.
private func require(_ condition: Bool, _ what: @autoclosure () -> String) {
  if !condition { fatalError("does not hold: " + what()) }
}
