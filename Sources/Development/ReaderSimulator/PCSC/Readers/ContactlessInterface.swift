/// The contactless slot of a reader.
///
/// All behaviour on the air comes from the simulated chip: this type has it find a tag and exchange frames, and makes
/// the answers that a PC/SC reader gives of that.
struct ContactlessInterface: CardInterface {
  let model: CardReaderModel
  var chip = PN532Chip(timing: .immediate)
  /// The selected tag; nil without power.
  private(set) var found: FoundCard?
  /// The keys of MIFARE Classic by their number, and the last authentication of this power-up.
  var keys: [UInt8: [UInt8]] = [:]
  var session = SimulatedTransparentSession()

  var isInSession: Bool { session.isOpen }
  private var tag: TagID?

  init(model: CardReaderModel) { self.model = model }

  mutating func place(_ medium: SimulatedCard.Medium, as id: TagID) -> Bool {
    guard case .contactless(let fieldTag) = medium else { return false }
    chip.radio.field.place(fieldTag, as: id, at: .zero)
    tag = id
    find()
    return found != nil
  }

  mutating func take() -> SimulatedCard.Medium? {
    guard let tag else { return nil }
    powerDown()
    self.tag = nil
    let fieldTag = chip.radio.field.remove(tag) ?? chip.radio.forgetTakenAway(tag)
    return fieldTag.map { .contactless($0) }
  }

  mutating func powerUp() -> [UInt8]? {
    find()
    return found?.answerToReset(by: model)
  }

  mutating func powerDown() {
    chip.reset(at: .zero)
    found = nil
    session = SimulatedTransparentSession()
  }

  mutating func transmit(_ command: [UInt8]) -> DriverAnswer {
    guard let found else { return .failure(.communicationError) }
    if command.first == ReaderAPDU.instructionClass { return .success(perform(command, on: found)) }
    // A storage card understands only the reader's commands.
    guard found.takesAPDUs else { return .success(ResponseStatus.wrongClass) }
    return exchangeAPDU(command)
  }

  var hasLostCard: Bool { tag != nil && chip.radio.field.tags.isEmpty }

  var memory: [UInt8]? { tag.flatMap { chip.radio.field.memory(of: $0) } }
}

extension ContactlessInterface {
  /// Cuts the field, and looks for a tag of each technology that the model knows.
  private mutating func find() {
    powerDown()
    for technology in model.technologies {
      found = select(technology)
      if found != nil { return }
    }
  }

  /// Selects the tag again after it has refused a command, if the model does that.
  mutating func selectAgain() {
    guard model.selectsAgain else { return }
    selectFound()
  }

  /// Selects the found tag again. A tag that has left the field stays found until its removal is noticed.
  mutating func selectFound() {
    guard let found else { return }
    switch found {
    case .typeA: _ = select(.typeA)
    case .typeB: _ = select(.typeB)
    case .felica, .jewel, .vicinity: break
    }
  }

  private mutating func select(_ technology: CardReaderModel.Technology) -> FoundCard? {
    // A second attempt finds a tag that was left selected.
    chip.retries.passiveActivation = 1
    switch technology {
    case .typeA: return selectTypeA()
    case .typeB: return selectTypeB()
    case .felica: return selectFeliCa(.felica212) ?? selectFeliCa(.felica424)
    case .jewel:
      guard let target = firstTarget([0x4A, 0x01, 0x04]), target.count == 6 else { return nil }
      return .jewel(uid: Array(target[2...]))
    case .vicinity: return selectVicinity()
    }
  }

  /// SENS_RES, SEL_RES, the UID and the answer to select (UM0701-02, 7.3.5).
  private mutating func selectTypeA() -> FoundCard? {
    guard let target = firstTarget([0x4A, 0x01, 0x00]), target.count >= 4 else { return nil }
    let end = 4 + Int(target[3])
    guard target.count >= end else { return nil }
    let ats = Array(target[end...])
    return .typeA(sak: target[2], uid: Array(target[4..<end]), ats: ats.isEmpty ? nil : ats)
  }

  /// The answer to REQB, 12 bytes, and that to ATTRIB.
  private mutating func selectTypeB() -> FoundCard? {
    guard let target = firstTarget([0x4A, 0x01, 0x03, 0x00]), target.count >= 13 else { return nil }
    return .typeB(
      pupi: Array(target[1..<5]), applicationData: Array(target[5..<9]), protocolInfo: Array(target[9..<12]),
      attributeAnswer: target.count > 13 ? target[13] : 0)
  }

  /// The answer to a poll for any system, with its length byte.
  private mutating func selectFeliCa(_ modulation: RadioModulation) -> FoundCard? {
    let rate: UInt8 = modulation == .felica212 ? 0x01 : 0x02
    guard let target = firstTarget([0x4A, 0x01, rate, 0x00, 0xFF, 0xFF, 0x00, 0x00]), target.count >= 18 else {
      return nil
    }
    return .felica(idm: Array(target[2..<10]), pmm: Array(target[10..<18]), modulation: modulation)
  }

  /// The data of the tag that InListPassiveTarget found, without its number.
  private mutating func firstTarget(_ command: [UInt8]) -> [UInt8]? {
    guard let answer = run(command), answer.count > 2, answer[0] == 1 else { return nil }
    return Array(answer[2...])
  }

  /// Has the chip run a command. The answer comes without its code.
  mutating func command(_ command: [UInt8]) -> ChipReply {
    let before = chip.counters(at: .zero).commands
    let actions = chip.receive(.information([HostFrame.hostIdentifier] + command), at: .zero)
    guard chip.counters(at: .zero).commands > before else { return .silence }
    if let answer = chip.trace.last?.answer { return .answer(answer) }
    return actions.contains(.send(HostFrame.error.bytes, after: .zero)) ? .refusal : .silence
  }

  /// As `command`, with nil for everything but an answer.
  private mutating func run(_ command: [UInt8]) -> [UInt8]? {
    if case .answer(let answer) = self.command(command) { answer } else { nil }
  }

  /// Exchanges data with the selected tag (InDataExchange). Fails with the chip's status.
  mutating func exchange(_ data: [UInt8]) throws(PN532Failure) -> [UInt8] {
    var collected: [UInt8] = []
    var rest = data
    while true {
      guard let answer = run([0x40, 0x01] + rest), let status = answer.first else {
        throw PN532Failure(PN532Status.wrongContext)
      }
      guard status & ~PN532Status.moreInformation == PN532Status.success else { throw PN532Failure(status) }
      collected += answer.dropFirst()
      guard status == PN532Status.moreInformation else { return collected }
      rest = []
    }
  }

  private mutating func exchangeAPDU(_ command: [UInt8]) -> DriverAnswer {
    do throws(PN532Failure) {
      return .success(try exchange(command))
    } catch {
      return model.hasOneFailure ? .success(ResponseStatus.failure) : .failure(.communicationError)
    }
  }
}

/// What the chip sends after a command.
enum ChipReply: Equatable {
  /// An answer, without its code.
  case answer([UInt8])
  /// An error frame: the chip does not know the command, or it is malformed.
  case refusal
  case silence
}

/// Cards of ISO/IEC 15693, which the simulated chip does not know. The reader exchanges their frames itself.
extension ContactlessInterface {
  /// Not addressed, high data rate (ISO/IEC 15693-3, section 7.3.1).
  private static let flags: UInt8 = 0x02

  /// Takes an inventory, and finds the size of the blocks by reading the first one.
  mutating func selectVicinity() -> FoundCard? {
    chip.radio.beginCommand(at: .zero)
    chip.radio.switchField(on: true)
    guard let answer = activate([0x26, 0x01, 0x00]), answer.count == 10, answer[0] == 0x00,
      let block = activate([Self.flags, 0x20, 0x00]), block.count > 1, block[0] == 0x00
    else { return nil }
    return .vicinity(uid: Array(answer[2...]), blockSize: block.count - 1)
  }

  private mutating func activate(_ command: [UInt8]) -> [UInt8]? {
    guard case .frame(let answer) = chip.radio.transceive(.standard(command, .vicinity), for: .activation) else {
      return nil
    }
    return answer.checkedData
  }

  /// FF B0: one or more whole blocks.
  mutating func readVicinity(_ command: ReaderAPDU, _ blockSize: Int) -> [UInt8] {
    let asked = command.expectedLength ?? 0
    let count = asked == 0 ? blockSize : asked
    guard count.isMultiple(of: blockSize) else { return ResponseStatus.rightLength(blockSize) }
    guard count <= max(blockSize, model.longestRead) else { return lengthError(max(blockSize, model.longestRead)) }
    var bytes: [UInt8] = []
    for block in command.address..<command.address + count / blockSize {
      let number = BigEndian.bytes(UInt16(truncatingIfNeeded: block))
      do throws(VicinityFailure) {
        bytes += try exchangeVicinity(block > 0xFF ? [0x30, number[1], number[0]] : [0x20, number[1]])
      } catch {
        return refusal(error.word)
      }
    }
    return bytes + ResponseStatus.success
  }

  /// FF D6: one whole block.
  mutating func updateVicinity(_ command: ReaderAPDU, _ blockSize: Int) -> [UInt8] {
    guard command.data.count == blockSize else { return lengthError(blockSize) }
    let isExtended = command.address > 0xFF
    let block = isExtended ? [command.parameter2, command.parameter1] : [command.parameter2]
    do throws(VicinityFailure) {
      _ = try exchangeVicinity([isExtended ? 0x31 : 0x21] + block + command.data)
      return ResponseStatus.success
    } catch {
      return refusal(error.word)
    }
  }

  /// The data of an answer, without its flags.
  private mutating func exchangeVicinity(_ command: [UInt8]) throws(VicinityFailure) -> [UInt8] {
    guard let answer = self.answer(of: .standard([Self.flags] + command, .vicinity)), let flags = answer.first else {
      throw VicinityFailure(word: ResponseStatus.noAnswer)
    }
    guard flags & 0x01 == 0 else { throw VicinityFailure(word: ResponseStatus.notFound) }
    return Array(answer.dropFirst())
  }
}

/// The status word for a failed exchange.
private struct VicinityFailure: Error { let word: [UInt8] }

/// A tag that a reader has found and selected.
enum FoundCard: Equatable {
  /// `ats` is the answer to select with its length byte; nil without ISO/IEC 14443-4.
  case typeA(sak: UInt8, uid: [UInt8], ats: [UInt8]?)
  /// `attributeAnswer` is the first byte of the answer to ATTRIB.
  case typeB(pupi: [UInt8], applicationData: [UInt8], protocolInfo: [UInt8], attributeAnswer: UInt8)
  case felica(idm: [UInt8], pmm: [UInt8], modulation: RadioModulation)
  /// `uid` is the four bytes that commands carry.
  case jewel(uid: [UInt8])
  /// `uid` is as on the air, the lowest byte first.
  case vicinity(uid: [UInt8], blockSize: Int)

  var takesAPDUs: Bool {
    switch self {
    case .typeA(_, _, let ats): ats != nil
    case .typeB: true
    case .felica, .jewel, .vicinity: false
    }
  }

  /// Whether the card is a MIFARE Classic, which needs authentication.
  var isClassic: Bool { Self.classicNames[sak ?? 0] != nil }

  private var sak: UInt8? { if case .typeA(let sak, _, nil) = self { sak } else { nil } }

  /// The names of MIFARE Classic 1K, 4K and Mini in the supplement to PC/SC part 3, by SAK.
  private static let classicNames: [UInt8: UInt16] = [0x08: 0x0001, 0x18: 0x0002, 0x09: 0x0026]
}

extension FoundCard {
  private static let standardA3: UInt8 = 0x03
  private static let standardFeliCa: UInt8 = 0x11
  private static let standard15693: UInt8 = 0x0B
  private static let nameOfUltralight: UInt16 = 0x0003
  private static let nameOfTopaz: UInt16 = 0x0030
  private static let nameOfFeliCa: UInt16 = 0x003B
  /// ICODE SLI and Tag-it, by manufacturer. Readers do not know the names of the others.
  private static let vicinityNames: [UInt8: UInt16] = [0x04: 0x0014, 0x07: 0x0012]

  /// The identifier that `FF CA` tells.
  func identifier(by model: CardReaderModel) -> [UInt8] {
    switch self {
    case .typeA(_, let uid, _): uid
    case .typeB(let pupi, _, _, _): pupi
    case .felica(let idm, _, _): idm
    case .jewel(let uid): uid
    case .vicinity(let uid, _): model.reversesVicinityUID ? uid : uid.reversed()
    }
  }

  /// The answer to reset that a reader of this model makes up.
  func answerToReset(by model: CardReaderModel) -> [UInt8] {
    switch self {
    case .typeA(_, _, let ats?): return SimulatedATR.typeA(historicalBytes: Self.historicalBytes(of: ats))
    case .typeA(let sak, _, nil):
      return SimulatedATR.storage(standard: Self.standardA3, name: Self.classicNames[sak] ?? Self.nameOfUltralight)
    case .typeB(_, let applicationData, let protocolInfo, let attributeAnswer):
      return SimulatedATR.typeB(
        applicationData: applicationData, protocolInfo: protocolInfo, attributeAnswer: attributeAnswer)
    case .felica(_, _, let modulation) where model.namesFeliCaAsTypeA:
      return SimulatedATR.storage(standard: Self.standardA3, name: modulation == .felica212 ? 0xF011 : 0xF012)
    case .felica: return SimulatedATR.storage(standard: Self.standardFeliCa, name: Self.nameOfFeliCa)
    case .jewel:
      return SimulatedATR.storage(standard: Self.standardA3, name: model.namesFeliCaAsTypeA ? 0xF004 : Self.nameOfTopaz)
    case .vicinity(let uid, _):
      return SimulatedATR.storage(standard: Self.standard15693, name: Self.vicinityNames[uid[6]] ?? 0x0000)
    }
  }

  /// The historical bytes of an answer to select (ISO/IEC 14443-4, section 5.2): they follow the format byte T0 and the
  /// interface bytes that it announces.
  static func historicalBytes(of ats: [UInt8]) -> [UInt8] {
    guard ats.count >= 2 else { return [] }
    let interfaceBytes = (ats[1] & 0x70).nonzeroBitCount
    return Array(ats.dropFirst(2 + interfaceBytes))
  }
}

/// Answers to reset (ISO/IEC 7816-3, section 8), as a reader makes them up for contactless cards (PC/SC part 3, section
/// 3.1.3.2.3).
enum SimulatedATR {
  /// A storage card. `standard` and `name` are the bytes SS and NN of the supplement to part 3.
  static func storage(standard: UInt8, name: UInt16) -> [UInt8] {
    let application: [UInt8] = [0x80, 0x4F, 0x0C, 0xA0, 0x00, 0x00, 0x03, 0x06, standard] + BigEndian.bytes(name)
    return checked([0x3B, 0x8F, 0x80, 0x01] + application + [0, 0, 0, 0])
  }

  /// A card of ISO/IEC 14443-4 Type A, with the historical bytes of its answer to select.
  static func typeA(historicalBytes: [UInt8]) -> [UInt8] {
    let bytes = historicalBytes.prefix(15)
    return checked([0x3B, 0x80 | UInt8(truncatingIfNeeded: bytes.count), 0x80, 0x01] + bytes)
  }

  /// A card of ISO/IEC 14443-4 Type B. `attributeAnswer` is the first byte of its answer to ATTRIB, which holds MBLI.
  static func typeB(applicationData: [UInt8], protocolInfo: [UInt8], attributeAnswer: UInt8) -> [UInt8] {
    checked([0x3B, 0x88, 0x80, 0x01] + applicationData + protocolInfo + [attributeAnswer & 0xF0])
  }

  /// Appends the check byte TCK: the exclusive or of all bytes from T0 on.
  private static func checked(_ bytes: [UInt8]) -> [UInt8] { bytes + [bytes.dropFirst().reduce(0, ^)] }
}
