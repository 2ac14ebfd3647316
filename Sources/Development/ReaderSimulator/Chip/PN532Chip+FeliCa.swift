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
      add(Target(identity: .felica, description: description))
    }
  }
}
