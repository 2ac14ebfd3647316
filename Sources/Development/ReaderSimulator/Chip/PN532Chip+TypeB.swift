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
    add(Target(identity: .typeB(pupi: Array(answer[1..<5])), description: description, blocks: blocks))
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
