/// The parameters of an InListPassiveTarget.
struct PassiveTargetRequest {
  let maximumTargets: Int
  let modulation: RadioModulation
  /// The host's description of the tag. Type A: the UID with its cascade tags. Type B: the application family. FeliCa:
  /// the poll without its length byte.
  let initiatorData: [UInt8]
}

/// A tag that the chip has numbered.
struct ChipTarget {
  /// The data that the chip needs to select the tag again.
  enum Identity {
    case typeA(ActivatedTag)
    /// `pupi` is the card's pseudo-unique identifier.
    case typeB(pupi: [UInt8])
    case felica
    /// `uid` is the four bytes that commands carry.
    case jewel(uid: [UInt8])
  }

  let identity: Identity
  /// The tag's data in the answer to InListPassiveTarget, without its number.
  var description: [UInt8]
  /// The block protocol, if the tag speaks ISO/IEC 14443-4 and the chip has activated it.
  var blocks: BlockProtocol?
  /// The rest of an answer that did not fit into one frame to the host.
  var incoming: [UInt8] = []
}

/// Commands that find, select and release tags (UM0701-02, sections 7.3.5 to 7.3.11).
extension PN532Chip {
  mutating func inListPassiveTarget(_ data: [UInt8]) -> Outcome {
    guard data.count >= 2, (1...2).contains(data[0]), let modulation = Self.modulation(bitRateAndType: data[1]) else {
      return .refuse
    }
    let request = PassiveTargetRequest(
      maximumTargets: Int(data[0]), modulation: modulation, initiatorData: Array(data.dropFirst(2)))
    guard isWellFormed(request) else { return .refuse }
    // With an endless number of retries, two attempts are enough: a tag that was left active misses only the first
    // request.
    let attempts = retries.passiveActivation == 0xFF ? 2 : Int(retries.passiveActivation) + 1
    for _ in 0..<attempts {
      if let answer = attemptSelect(request) { return .answer(answer) }
    }
    return retries.passiveActivation == 0xFF ? .wait(.select(request)) : .answer([0])
  }

  /// Polls once. Returns the number of targets and the data of each; nil if there is none.
  mutating func attemptSelect(_ request: PassiveTargetRequest) -> [UInt8]? {
    list(request)
    guard !targets.isEmpty else { return nil }
    return [UInt8(truncatingIfNeeded: targets.count)]
      + targets.enumerated().flatMap { [UInt8(truncatingIfNeeded: $0.offset + 1)] + $0.element.description }
  }

  /// Fills `targets` with the tags that answer.
  mutating func list(_ request: PassiveTargetRequest) {
    radio.switchField(on: true)
    targets = []
    selected = nil
    switch request.modulation {
    case .typeA: listTypeA(request)
    case .typeB: listTypeB(request)
    case .felica212, .felica424: listFeliCa(request)
    case .jewel: listJewel()
    case .vicinity: break
    }
    registers.looked(for: request.modulation, found: !targets.isEmpty, lastFrame: radio.lastFrame)
  }

  /// Whether the initiator data has the length that its technology requires (UM0701-02, section 7.3.5).
  private func isWellFormed(_ request: PassiveTargetRequest) -> Bool {
    switch request.modulation {
    case .typeA, .jewel, .vicinity: true
    case .typeB: (1...2).contains(request.initiatorData.count)
    case .felica212, .felica424: request.initiatorData.count == 5
    }
  }

  mutating func inSelect(_ data: [UInt8]) throws(PN532Failure) -> Outcome {
    guard data.count == 1 else { return .refuse }
    try select(try targetIndex(data[0]))
    return .answer([PN532Status.success])
  }

  /// InDeselect halts a target; InRelease also forgets it.
  mutating func inDeselect(_ data: [UInt8], release: Bool) throws(PN532Failure) -> Outcome {
    guard data.count == 1 else { return .refuse }
    guard data[0] != 0 else {
      if release { releaseAll() } else { haltSelected() }
      return .answer([PN532Status.success])
    }
    let index = try targetIndex(data[0])
    if selected == index { haltSelected() }
    // The other targets keep their numbers, so only the last target can be forgotten alone.
    if release && index == targets.count - 1 { targets.removeLast() }
    return .answer([PN532Status.success])
  }

  mutating func releaseAll() {
    haltSelected()
    targets = []
  }

  /// Diagnose 6: whether the selected ISO/IEC 14443-4 tag still answers.
  mutating func attentionRequest() -> UInt8 {
    guard let selected, targets[selected].blocks != nil else { return PN532Status.wrongContext }
    return targets[selected].blocks?.isPresent(over: &radio) == true ? PN532Status.success : PN532Status.timeout
  }

  func targetIndex(_ number: UInt8) throws(PN532Failure) -> Int {
    let index = Int(number) - 1
    guard targets.indices.contains(index) else { throw PN532Failure(PN532Status.wrongContext) }
    return index
  }

  /// Selects a target by its UID, unless it is selected already.
  mutating func select(_ index: Int) throws(PN532Failure) {
    guard selected != index else { return }
    haltSelected()
    switch targets[index].identity {
    case .typeA(let tag): try selectTypeA(tag, index)
    case .typeB(let pupi): try selectTypeB(pupi, index)
    // Each command names its card.
    case .felica: break
    case .jewel(let uid): try selectJewel(uid)
    }
    radio.spend(radio.timing.activation)
    selected = index
  }

  mutating func haltSelected() {
    guard let index = selected else { return }
    selected = nil
    targets[index].incoming = []
    outgoing = []
    if targets[index].blocks != nil {
      targets[index].blocks?.deselect(over: &radio)
    } else {
      switch targets[index].identity {
      case .typeA: haltTypeA()
      case .typeB, .felica, .jewel: break
      }
    }
  }

  /// Adds a tag that was found, and marks it as selected.
  mutating func add(_ target: ChipTarget) {
    radio.spend(radio.timing.activation)
    targets.append(target)
    selected = targets.count - 1
  }

  private static func modulation(bitRateAndType: UInt8) -> RadioModulation? {
    switch bitRateAndType {
    case 0x00: .typeA
    case 0x01: .felica212
    case 0x02: .felica424
    case 0x03: .typeB
    case 0x04: .jewel
    default: nil
    }
  }
}

/// A running InAutoPoll (UM0701-02, section 7.3.13).
struct AutoPoll {
  /// The target types, in the host's order.
  let types: [UInt8]
  /// How long the chip polls for one type: Period, in units of 150 ms.
  let period: Duration
  /// How many slots there are, one per type and PollNr round; nil for no limit.
  let slots: Int?
  let begin: Duration
  var slot = 0

  /// The time when the chip gives up; nil for never.
  var end: Duration? { slots.map { begin + period * $0 } }
  var nextSlot: Duration { begin + period * (slot + 1) }
}

extension PN532Chip {
  mutating func inAutoPoll(_ data: [UInt8], at now: Duration) -> Outcome {
    guard data.count >= 3, data.count <= 17, data[0] != 0, (1...15).contains(data[1]) else { return .refuse }
    let types = Array(data.dropFirst(2))
    let poll = AutoPoll(
      types: types, period: .milliseconds(150) * Int(data[1]),
      slots: data[0] == 0xFF ? nil : Int(data[0]) * types.count, begin: now)
    return look(poll)
  }

  /// Starts the next slot, or ends the command if there is none.
  mutating func continueAutoPoll(_ poll: AutoPoll) -> Outcome {
    guard radio.timing.hasPollingSlots else { return .answer([0]) }
    var poll = poll
    poll.slot += 1
    if let slots = poll.slots, poll.slot >= slots { return .answer([0]) }
    return look(poll)
  }

  /// Polls for the type of the current slot. Without slots, polls for all types.
  mutating func look(_ poll: AutoPoll) -> Outcome {
    let types = radio.timing.hasPollingSlots ? [poll.types[poll.slot % poll.types.count]] : poll.types
    for type in types {
      if let answer = find(type) { return .answer(answer) }
    }
    return .wait(.autoPoll(poll, wake: radio.timing.hasPollingSlots ? poll.nextSlot : poll.end))
  }

  private mutating func find(_ type: UInt8) -> [UInt8]? {
    guard let modulation = Self.modulation(targetType: type) else { return nil }
    let initiatorData: [UInt8] =
      switch modulation {
      case .typeA, .jewel, .vicinity: []
      case .typeB: [0x00]
      case .felica212, .felica424: [0x00, 0xFF, 0xFF, 0x01, 0x00]
      }
    list(PassiveTargetRequest(maximumTargets: 1, modulation: modulation, initiatorData: initiatorData))
    guard let target = targets.first else { return nil }
    // Types such as 10 accept any tag. Types 20 and 23 accept only a tag that speaks ISO/IEC 14443-4.
    guard type & 0xF0 != 0x20 || target.blocks != nil else {
      haltSelected()
      targets = []
      return nil
    }
    let found =
      switch modulation {
      case .typeA: target.blocks == nil ? 0x10 : type == 0x10 ? 0x10 : 0x20 as UInt8
      case .felica212: 0x11 as UInt8
      case .felica424: 0x12 as UInt8
      case .typeB: 0x23 as UInt8
      case .jewel, .vicinity: 0x04 as UInt8
      }
    let description = [1] + target.description
    return [1, found, UInt8(truncatingIfNeeded: description.count)] + description
  }

  /// The generic types have 0 as their high digit.
  private static func modulation(targetType: UInt8) -> RadioModulation? {
    switch targetType {
    case 0x00, 0x10, 0x20: .typeA
    case 0x01, 0x11: .felica212
    case 0x02, 0x12: .felica424
    case 0x03, 0x23: .typeB
    case 0x04: .jewel
    default: nil
    }
  }
}
