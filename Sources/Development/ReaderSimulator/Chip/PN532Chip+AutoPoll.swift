/// A running InAutoPoll (UM0701-02, section 7.3.13).
struct AutoPoll {
  /// The target types, in the host's order.
  let types: [UInt8]
  /// How long the chip polls for one type: Period, in units of 150 ms.
  let period: Duration
  /// How many slots there are, one per type and PollNr round; nil for no limit.
  let slots: Int?
  let begin: Duration
  /// The index of the current slot.
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
