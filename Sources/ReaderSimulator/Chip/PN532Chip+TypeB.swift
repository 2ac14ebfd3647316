/// Type B targets (ISO/IEC 14443-3, section 7): finding, selecting and letting go.
extension PN532Chip {
  /// Fills `targets` with the one that answers in the only time slot there is.
  mutating func listTypeB(_ request: PassiveTargetRequest) {
    guard let family = request.initiatorData.first, let answer = requestTypeB(family: family, wakesAll: true),
      let response = attribute(answer)
    else { return }
    let description = answer + [UInt8(truncatingIfNeeded: response.count)] + response
    let blocks = BlockProtocol(protocolInfo: Array(answer.dropFirst(9)))
    add(Target(identity: .typeB(pupi: Array(answer[1..<5])), description: description, blocks: blocks))
    radio.spend(radio.timing.activation)
  }

  mutating func selectTypeB(_ pupi: [UInt8], _ index: Int) throws(PN532Failure) {
    guard let answer = requestTypeB(family: 0x00, wakesAll: true), Array(answer[1..<5]) == pupi,
      attribute(answer) != nil
    else { throw PN532Failure(PN532Status.targetGone) }
    targets[index].blocks = BlockProtocol(protocolInfo: Array(answer.dropFirst(9)))
  }

  /// REQB, or WUPB, which wakes halted tags too.
  ///
  /// - Returns: ATQB, 12 bytes.
  private mutating func requestTypeB(family: UInt8, wakesAll: Bool) -> [UInt8]? {
    guard
      case .frame(let frame) = radio.transceive(
        .standard([0x05, family, wakesAll ? 0x08 : 0x00], .typeB), for: .activation),
      let answer = frame.checkedData, answer.count >= 12, answer[0] == 0x50
    else { return nil }
    return Array(answer.prefix(12))
  }

  /// ATTRIB: frames of 64 bytes for the chip, 106 kbit/s, ISO/IEC 14443-4, no number.
  private mutating func attribute(_ answer: [UInt8]) -> [UInt8]? {
    let command = [0x1D] + answer[1..<5] + [0x00, 0x05, 0x01, 0x00]
    guard case .frame(let frame) = radio.transceive(.standard(command, .typeB), for: .activation) else { return nil }
    return frame.checkedData
  }
}
