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
  var session = TransparentSession()

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
    session = TransparentSession()
  }

  mutating func transmit(_ command: [UInt8]) -> DriverAnswer {
    guard let found else { return .failure(.communicationError) }
    if command.first == PseudoAPDU.instructionClass { return .success(perform(command, on: found)) }
    // A storage card has no commands of its own.
    guard found.takesAPDUs else { return .success(StatusWord.wrongClass) }
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
    return .felica(idm: Array(target[2..<10]), modulation: modulation)
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
      return model.hasOneFailure ? .success(StatusWord.failure) : .failure(.communicationError)
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
