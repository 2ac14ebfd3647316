// Modules: NDEF Names Tags PN53x ReaderModels
// Sources: Reader/PCSCReader/Cards Reader/PCSCReader/Channel

import NDEF
import Names
import Tags

@testable import ReaderModels

/// A hostile card in a hostile PC/SC reader. The first byte of the input selects the reader's model, the second the
/// answer to reset, and the third the length of a message to write. The others are the answers to all APDUs, an answer
/// to reset, the name of a reader, and a client's command. Identifying the card, reading, querying, writing and locking
/// must end, and send only what they may send.
@c(LLVMFuzzerTestOneInput)
public func fuzzCard(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = Array(UnsafeBufferPointer(start: start, count: count))
  guard input.count > 3 else { return 0 }
  let script = Array(input[3...])
  let models = ReaderModel.all + [.generic]
  let model = models[Int(input[0]) % models.count]
  checkName(script)
  checkCommands(script, model)

  let choice = Int(input[1]) % (AnswerToReset.samples.count + 1)
  let kind = AnswerToReset(
    choice < AnswerToReset.samples.count ? AnswerToReset.samples[choice] : Array(script.prefix(33))
  ).kind
  var link = CardLink(HostileCard(kind: kind, script: script), model: model, takesExtendedAPDUs: input[2] & 1 != 0)
  let identification = try? link.identify(kind)
  require(kind.isContactless || link.connection.commands == 0, "a card with contacts gets no command")
  require(link.connection.commands <= mostCommands, "an identification ends within \(mostCommands) commands")
  guard case .tag(let tag)? = identification else { return 0 }
  check(CardChannel(link, tag: tag), tag, [UInt8](repeating: 0x5A, count: Int(input[2]) * 8), script)
  return 0
}

/// The most APDUs for one command to a tag: a SpringCard reader gets one for each block of a FeliCa card.
private let mostCommands = 400

private func checkName(_ script: [UInt8]) {
  let name = String(decoding: script.prefix(128), as: UTF8.self)
  let isContactless = ReaderModel.isContactlessName(name)
  require(
    !isContactless || !name.lowercased().hasPrefix("broadcom corp"), "it is used only if the configuration names it")
  require(!ReaderModel.isContactlessDevice(vendor: 0x1050, product: 0, names: [name]), "it is a key")
}

private func checkCommands(_ command: [UInt8], _ model: ReaderModel) {
  for type in TagType.allCases {
    _ = model.isBetterAvoided(command, for: type)
    let obstacle = model.obstacle(to: command, for: type, takesExtendedAPDUs: true)
    let isAPDU = type == .type4A || type == .type4B
    require(!isAPDU || command.first != 0xFF || obstacle != nil, "a client sends no commands to the reader")
  }
}

private func check(
  _ start: CardChannel<HostileCard>, _ tag: TagActivation, _ message: [UInt8], _ script: [UInt8]
) {
  var channel = start
  operate(&channel) { channel in
    if case .message(let message)? = try? tag.readNDEF(over: &channel) {
      require((try? NDEFMessage(decoding: message)) != nil, "what is read is a message")
      require(message.count <= channel.link.connection.given, "the message is no longer than what the tag has said")
    }
  }
  operate(&channel) { channel in
    if let status = try? tag.queryNDEF(over: &channel) { require(status.capacity >= 0, "a capacity makes sense") }
  }
  operate(&channel, mayWrite: true) { channel in
    _ = try? tag.writeNDEF(message, isVerifying: script.count % 2 == 0, over: &channel)
  }
  operate(&channel, mayWrite: true) { channel in _ = try? tag.lockNDEF(over: &channel) }
  operate(&channel, mayWrite: true) { channel in
    let command = Array(script.prefix(300))
    let answer = try? channel.exchange(command)
    require(answer?.count ?? 0 <= 65_538, "an answer is no longer than the longest one")
    _ = try? channel.reselect()
    channel.link.endSession()
  }
}

/// Performs an operation. The number of APDUs is limited by that of the commands to the tag.
private func operate(
  _ channel: inout CardChannel<HostileCard>, mayWrite: Bool = false, _ body: (inout CardChannel<HostileCard>) -> Void
) {
  var link = channel.link
  link.rewind(mayWrite: mayWrite)
  channel = CardChannel(link, tag: channel.tag)
  body(&channel)
  let commands = channel.link.connection.commands
  require(commands <= (channel.exchanges + 1) * mostCommands, "\(commands) for \(channel.exchanges) commands")
}

extension AnswerToReset {
  /// Standards and names of memory cards.
  private static let cards: [(UInt8, UInt16)] = [
    (0x03, 0x0003), (0x03, 0x0000), (0x03, 0x0001), (0x03, 0x0002), (0x03, 0x0030), (0x03, 0xF004), (0x03, 0xF011),
    (0x11, 0x003B), (0x0B, 0x0014), (0x05, 0x0000), (0x40, 0x0000),
  ]
  /// Cards of ISO-DEP, a card with contacts, and an empty answer to reset.
  private static let others: [[UInt8]] = [
    [0x3B, 0x80, 0x80, 0x01, 0x01], [0x3B, 0x88, 0x80, 0x01, 0, 0, 0, 0, 0, 0x81, 0x81, 0, 0x09],
    [0x3B, 0x02, 0x14, 0x50], [],
  ]

  /// An answer to reset of each kind.
  fileprivate static let samples: [[UInt8]] = cards.map { storage($0.0, $0.1) } + others

  private static func storage(_ standard: UInt8, _ name: UInt16) -> [UInt8] {
    let start: [UInt8] = [0x3B, 0x8F, 0x80, 0x01, 0x80, 0x4F, 0x0C, 0xA0, 0x00, 0x00, 0x03, 0x06]
    let bytes = start + [standard, UInt8(name >> 8), UInt8(name & 0xFF), 0, 0, 0, 0]
    return bytes + [bytes.dropFirst().reduce(0, ^)]
  }
}

extension CardLink where Connection == HostileCard {
  fileprivate mutating func rewind(mayWrite: Bool) {
    var copy = CardLink(connection.rewound(mayWrite: mayWrite), model: model, takesExtendedAPDUs: takesExtendedAPDUs)
    copy.identifier = identifier
    self = copy
  }
}

/// Answers from the script, which starts over at its end.
private struct HostileCard: CardConnection {
  /// More than the longest operation needs: writing the largest memory.
  private static let most = 1_000_000
  private static let success: [UInt8] = [0x90, 0x00]
  private static let noData: [UInt8] = [0xC0, 0x03, 0x00, 0x90, 0x00]
  private static let idm: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]

  private let identifier: [UInt8]
  private let script: [UInt8]
  private var mayWrite = false
  private var place = 0
  private var hasGivenMuch = false
  /// APDUs in this operation.
  private(set) var commands = 0
  /// Bytes of answers in this operation.
  private(set) var given = 0

  init(kind: CardKind, script: [UInt8]) {
    self.script = script
    identifier =
      switch kind {
      case .storage(let card) where card.standard == .iso15693: [0xE0, 4, 1, 0, 0, 0, 0, 1]
      case .storage(let card) where card.standard == .feliCa || card.name == 0xF011: Self.idm
      case .isoDEPTypeB: [1, 2, 3, 4]
      default: [4, 1, 2, 3, 4, 5, 6]
      }
  }

  /// The card as it was before the first operation.
  func rewound(mayWrite: Bool) -> HostileCard {
    var copy = self
    (copy.place, copy.commands, copy.given, copy.hasGivenMuch, copy.mayWrite) = (0, 0, 0, false, mayWrite)
    return copy
  }

  mutating func transmit(_ command: [UInt8]) throws(CardFailure) -> [UInt8] {
    commands += 1
    require(commands <= Self.most, "an operation ends")
    require((4...65_544).contains(command.count), "a command is an APDU")
    require(mayWrite || !isWrite(command), "nothing is written to find something out")
    let answer: [UInt8]
    switch next() {
    case 0xFF: throw failure()
    case 0xFE: answer = take(Int(next()))
    case 0xFD: answer = [next(), next()]
    case 0xFC where !hasGivenMuch:
      hasGivenMuch = true
      answer = [UInt8](repeating: 0, count: 65_530 + Int(next() & 0x0F)) + [next(), next()]
    default: answer = plausible(command)
    }
    given += answer.count
    return answer
  }

  mutating func reset() throws(CardFailure) {
    if next() == 0xFF { throw failure() }
  }

  private mutating func failure() -> CardFailure {
    let failures: [CardFailure] = [.removed, .reset, .exchange("script"), .readerGone("script"), .aborted]
    return failures[Int(next()) % failures.count]
  }

  /// Whether a pseudo-APDU writes to the card. Those with raw commands are not looked into.
  private func isWrite(_ command: [UInt8]) -> Bool {
    command[0] == 0xFF && [0xD6, 0x30, 0xF6, 0x48, 0x56, 0x58, 0x5E, 0x60].contains(command[1])
  }

  /// An answer of the form that the command has.
  private mutating func plausible(_ command: [UInt8]) -> [UInt8] {
    guard command[0] == 0xFF else {
      return (command.count > 4 && command[1] == 0xB0 ? take(Int(command[4])) : []) + Self.success
    }
    let data = Array(command.dropFirst(5))
    switch command[1] {
    case 0xCA where command[2] == 0: return identifier + Self.success
    case 0xB0: return memory(at: command[3], command.last.map(Int.init) ?? 0) + Self.success
    case 0x00 where data.first == 0xD4 && data.count >= 3:
      return [0xD5, data[1] &+ 1, 0x00] + tag(Array(data.dropFirst(data[1] == 0x40 ? 3 : 2))) + Self.success
    case 0x00: return feliCa(data) + Self.success
    case 0xC2 where command[3] == 0x01:
      let answer: [UInt8] = data.count > 13 ? Array(tag(Array(data.dropFirst(13).dropLast())).prefix(0x7F)) : []
      return Self.noData + [0x97, UInt8(answer.count)] + answer + Self.success
    case 0xC2: return Self.noData + Self.success
    case 0x46: return [0x07] + Self.idm + [0, 0, command[3]] + take(Int(command[3]) * 16) + Self.success
    case 0x48: return [0x09] + Self.idm + [0, 0] + Self.success
    case 0x50: return [0x12, 0x4C, 1, 2, 3, 4] + Self.success
    case 0x52: return [0x12, 0x4C, 1, 2, 3, 4, 5, 6, 7, 0, 0xE1, 0x10] + take(110) + Self.success
    case 0x54...0x60: return take(command[1] < 0x5A ? 1 : 8) + Self.success
    case 0xFB, 0xFC: return data.first == 0x20 ? memory(at: data[1], 4) + Self.success : Self.success
    default: return Self.success
    }
  }

  /// The answer of a tag to one of its own commands.
  private mutating func tag(_ command: [UInt8]) -> [UInt8] {
    switch (command.first, command.count) {
    case (0x30, 2): memory(at: command[1], 16)
    case (0x3A, 3): take(max(0, Int(command[2]) - Int(command[1]) + 1) * 4)
    case (0x60, 1): [0, 4] + take(6)
    case (0x02, 3): [0] + memory(at: command[2], 4)
    case (let length?, let count) where Int(length) == count: feliCa(command)
    case (0x00, _): [0x12, 0x4C, 1, 2, 3, 4, 5, 6, 7, 0, 0xE1, 0x10] + take(110)
    default: [0x0A]
    }
  }

  private mutating func feliCa(_ frame: [UInt8]) -> [UInt8] {
    guard frame.count > 13 else { return [20, 0x01] + Self.idm + Self.idm + take(2) }
    let blocks = frame[1] == 0x06 ? Int(frame[13] & 0x0F) : 0
    let data = blocks > 0 ? [UInt8(blocks)] + take(blocks * 16) : []
    return [UInt8(12 + data.count), frame[1] &+ 1] + Self.idm + [0, 0] + data
  }

  /// Blocks that begin with a capability container.
  private mutating func memory(at block: UInt8, _ count: Int) -> [UInt8] {
    let start: [UInt8] =
      switch block {
      case 0: [0xE1, 0x40]
      case 3: [0xE1, 0x10]
      default: []
      }
    let size = count == 0 ? 4 : count
    return Array((start + take(max(0, size - start.count))).prefix(size))
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
