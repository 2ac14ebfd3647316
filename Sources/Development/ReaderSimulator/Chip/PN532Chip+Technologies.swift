/// Type A targets: finding, selecting and halting.
extension PN532Chip {
  /// Fills `targets` with the one or two tags that answer.
  mutating func listTypeA(_ request: PassiveTargetRequest) {
    let wanted = request.initiatorData.isEmpty ? nil : Self.withoutCascadeTags(request.initiatorData)
    guard let first = radio.activateTypeA(request: RadioInterface.wupa, wanted: wanted) else { return }
    addTypeA(first)
    guard request.maximumTargets == 2 else { return }
    // The first tag is halted while the chip polls for another.
    haltSelected()
    if let second = radio.activateTypeA(request: RadioInterface.reqa) { addTypeA(second) }
  }

  mutating func addTypeA(_ tag: ActivatedTag) {
    let ats = tag.speaksBlockProtocol && sendsRATS ? sendRATS() : nil
    // SENS_RES (high byte first), SEL_RES, UID and ATS.
    let description = tag.atqa.reversed() + [tag.sak, UInt8(truncatingIfNeeded: tag.uid.count)] + tag.uid + (ats ?? [])
    add(ChipTarget(identity: .typeA(tag), description: description, blocks: ats.map(BlockProtocol.init(ats:))))
  }

  mutating func selectTypeA(_ tag: ActivatedTag, _ index: Int) throws(PN532Failure) {
    guard radio.activateTypeA(request: RadioInterface.wupa, wanted: tag.uid) != nil else {
      throw PN532Failure(PN532Status.targetGone)
    }
    if targets[index].blocks != nil { targets[index].blocks = sendRATS().map(BlockProtocol.init(ats:)) }
  }

  /// Sends HLTA. A tag obeys it without an answer.
  mutating func haltTypeA() { _ = radio.transceive(.standard([0x50, 0x00]), for: .activation) }

  /// Returns the answer to select as received; nil if there is none.
  private mutating func sendRATS() -> [UInt8]? {
    guard case .frame(let frame) = radio.transceive(.standard(BlockProtocol.rats), for: .activation) else { return nil }
    return frame.checkedData
  }

  /// Removes the cascade tags, which the host sends with a UID of more than four bytes.
  static func withoutCascadeTags(_ bytes: [UInt8]) -> [UInt8] {
    switch bytes.count {
    case 8 where bytes[0] == 0x88: Array(bytes[1...])
    case 12 where bytes[0] == 0x88 && bytes[4] == 0x88: Array(bytes[1..<4] + bytes[5...])
    default: bytes
    }
  }
}

/// Type B targets (ISO/IEC 14443-3, section 7): finding and selecting.
extension PN532Chip {
  /// Fills `targets` with the one or two tags that answer.
  ///
  /// According to the manual, the chip finds them by time slots and keeps up to two (UM0701-02, 7.3.5). The manual does
  /// not say whether the first request is REQB or WUPB. Here it is WUPB, as for Type A, so that the chip finds a halted
  /// card again, unless `wakesTypeB` is false.
  mutating func listTypeB(_ request: PassiveTargetRequest) {
    guard let family = request.initiatorData.first else { return }
    guard addTypeB(family: family, wakesAll: wakesTypeB), request.maximumTargets == 2 else { return }
    // The first card is halted while the chip polls for another.
    haltSelected()
    _ = addTypeB(family: family, wakesAll: false)
  }

  private mutating func addTypeB(family: UInt8, wakesAll: Bool) -> Bool {
    guard let answer = findTypeB(family: family, wakesAll: wakesAll), let response = attribute(answer) else {
      return false
    }
    let description = answer + [UInt8(truncatingIfNeeded: response.count)] + response
    let blocks = BlockProtocol(protocolInfo: Array(answer.dropFirst(9)))
    add(ChipTarget(identity: .typeB(pupi: Array(answer[1..<5])), description: description, blocks: blocks))
    radio.spend(radio.timing.activation)
    return true
  }

  mutating func selectTypeB(_ pupi: [UInt8], _ index: Int) throws(PN532Failure) {
    guard let answer = findTypeB(family: 0x00, wakesAll: true, pupi: pupi), attribute(answer) != nil else {
      throw PN532Failure(PN532Status.targetGone)
    }
    targets[index].blocks = BlockProtocol(protocolInfo: Array(answer.dropFirst(9)))
  }

  /// Anticollision (7.5). Starts with one slot; each time answers collide, the number of slots doubles, up to 16. The
  /// family 0 means all cards. `wakesAll` sends WUPB, which also wakes halted cards, instead of REQB. `pupi` is the
  /// identifier of the only card to accept. Returns ATQB, 12 bytes, of the first card that answers alone.
  private mutating func findTypeB(family: UInt8, wakesAll: Bool, pupi: [UInt8]? = nil) -> [UInt8]? {
    // Several cards may choose the same slot of 16 repeatedly.
    for code in [0, 1, 2, 3, 4, 4, 4] as [UInt8] {
      var hasCollided = false
      for slot in 0..<(1 << code) as Range<UInt8> {
        let command = slot == 0 ? [0x05, family, (wakesAll ? 0x08 : 0x00) | code] : [slot << 4 | 0x05]
        switch radio.transceive(.standard(command, .typeB), for: .activation) {
        case .silence: break
        case .collision: hasCollided = true
        case .frame(let frame):
          guard let answer = frame.checkedData, answer.count >= 12, answer[0] == 0x50 else { break }
          if pupi == nil || Array(answer[1..<5]) == pupi { return Array(answer.prefix(12)) }
        }
      }
      guard hasCollided else { return nil }
    }
    return nil
  }

  /// Sends ATTRIB: frames of 64 bytes for the chip, 106 kbit/s, ISO/IEC 14443-4, no number for the card.
  private mutating func attribute(_ answer: [UInt8]) -> [UInt8]? {
    let command = [0x1D] + answer[1..<5] + [0x00, 0x05, 0x01, 0x00]
    guard case .frame(let frame) = radio.transceive(.standard(command, .typeB), for: .activation) else { return nil }
    return frame.checkedData
  }
}

/// FeliCa targets (JIS X 6319-4). A poll finds them, and they do not have to be halted.
extension PN532Chip {
  /// Fills `targets` with the one or two tags that answer.
  mutating func listFeliCa(_ request: PassiveTargetRequest) {
    let poll = [UInt8(truncatingIfNeeded: request.initiatorData.count + 1)] + request.initiatorData
    let answers: [RadioFrame]
    switch radio.transceive(.standard(poll, request.modulation), for: .activation) {
    case .silence: answers = []
    case .frame(let frame): answers = [frame]
    // Each card chooses a time slot. If there is only one slot, the chip cannot read colliding answers.
    case .collision(let frames): answers = request.initiatorData.last == 0 ? [] : frames
    }
    for answer in answers.prefix(request.maximumTargets) {
      guard let description = answer.checkedData, description.count >= 18, Int(description[0]) == description.count,
        description[1] == 0x01
      else { continue }
      add(ChipTarget(identity: .felica, description: description))
    }
  }
}

/// Jewel and Topaz targets, which are NFC Forum Type 1 (UM0701-02, sections 7.3.5 and 7.3.8).
extension PN532Chip {
  private static let readIdentification: UInt8 = 0x78

  /// Fills `targets` with the tag that answers RID after a request.
  mutating func listJewel() {
    guard let atqa = requestJewel(), let answer = identifyJewel() else { return }
    // SENS_RES (high byte first) and four bytes of the UID.
    let uid = Array(answer.suffix(4))
    add(ChipTarget(identity: .jewel(uid: uid), description: atqa.reversed() + uid))
  }

  mutating func selectJewel(_ uid: [UInt8]) throws(PN532Failure) {
    guard requestJewel() != nil, let answer = identifyJewel(), Array(answer.suffix(4)) == uid else {
      throw PN532Failure(PN532Status.targetGone)
    }
  }

  private mutating func requestJewel() -> [UInt8]? {
    guard case .frame(let atqa) = radio.transceive(.short(RadioInterface.reqa), for: .activation) else { return nil }
    return atqa.bytes
  }

  private mutating func identifyJewel() -> [UInt8]? {
    let command: [UInt8] = [Self.readIdentification, 0, 0, 0, 0, 0, 0]
    guard case .frame(let frame) = radio.transceive(.standard(command, .jewel), for: .activation),
      let answer = frame.checkedData, answer.count == 6
    else { return nil }
    return answer
  }

  /// The firmware adds the UID and the CRC, and removes the address from an answer. It ignores any further bytes from
  /// the host.
  mutating func exchangeJewel(_ command: [UInt8], _ uid: [UInt8]) throws(PN532Failure) -> [UInt8] {
    switch (command.first, command.count) {
    case (Self.readIdentification, _): return try transceiveJewel([Self.readIdentification, 0, 0, 0, 0, 0, 0])
    // RALL.
    case (0x00, _): return try transceiveJewel([0x00, 0, 0] + uid)
    // READ.
    case (0x01, 2...): return Array(try transceiveJewel([0x01, command[1], 0] + uid).dropFirst())
    // WRITE-E and WRITE-NE.
    case (0x53, 3...), (0x1A, 3...): return Array(try transceiveJewel(command[..<3] + uid).dropFirst())
    // Of RSEG, the firmware supports only the first segment. It fails at the commands for blocks of eight bytes.
    case (0x10, 2...) where command[1] == 0:
      return Array(try transceiveJewel([0x10] + [UInt8](repeating: 0, count: 9) + uid).dropFirst())
    default: throw PN532Failure(PN532Status.timeout)
    }
  }

  private mutating func transceiveJewel(_ command: [UInt8]) throws(PN532Failure) -> [UInt8] {
    switch radio.transceiveRepeatedly(.standard(command, .jewel)) {
    case .silence: throw PN532Failure(PN532Status.timeout)
    case .collision: throw PN532Failure(PN532Status.bitCollision)
    case .frame(let answer):
      guard let data = answer.checkedData else { throw PN532Failure(PN532Status.crcError) }
      return data
    }
  }
}
