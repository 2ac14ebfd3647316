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
    let description =
      tag.atqa.reversed() + [tag.sak, UInt8(truncatingIfNeeded: tag.uid.count)] + tag.uid + (ats ?? [])
    add(Target(identity: .typeA(tag), description: description, blocks: ats.map(BlockProtocol.init(ats:))))
  }

  mutating func selectTypeA(_ tag: ActivatedTag, _ index: Int) throws(PN532Failure) {
    guard radio.activateTypeA(request: RadioInterface.wupa, wanted: tag.uid) != nil else {
      throw PN532Failure(PN532Status.targetGone)
    }
    if targets[index].blocks != nil { targets[index].blocks = sendRATS().map(BlockProtocol.init(ats:)) }
  }

  /// Sends HLTA. A tag obeys it without an answer.
  mutating func haltTypeA() {
    _ = radio.transceive(.standard([0x50, 0x00]), for: .activation)
  }

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
