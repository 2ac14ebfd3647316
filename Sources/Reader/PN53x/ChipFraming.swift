import Names
package import Tags

/// Sends the commands of one kind of tag through a PN53x, in the format that `TagChannel` defines.
package protocol ChipFraming {
  /// For the selected tag. Command and answer have the format of `TagChannel`.
  func exchange(_ command: [UInt8], with chip: some Chip) throws(ChipFailure) -> ChipAnswer
}

/// ISO-DEP: the firmware handles the whole protocol.
package struct FirmwareFraming: ChipFraming {
  package init() {}

  package func exchange(_ command: [UInt8], with chip: some Chip) throws(ChipFailure) -> ChipAnswer {
    try chip.exchange(command)
  }
}

/// FeliCa: the firmware adds only the checksum to a frame. The host adds the length byte.
package struct FeliCaFraming: ChipFraming {
  package init() {}

  package func exchange(_ command: [UInt8], with chip: some Chip) throws(ChipFailure) -> ChipAnswer {
    guard command.count < 255 else { return .silence }
    let answer = try chip.exchange([UInt8(truncatingIfNeeded: command.count + 1)] + command)
    guard case .bytes(let bytes) = answer else { return answer }
    guard let length = bytes.first, Int(length) == bytes.count else { return .silence }
    return .bytes(Array(bytes.dropFirst()))
  }
}

extension TagActivation {
  package var framing: any ChipFraming {
    switch type {
    case .type1: Type1Framing()
    case .type2: Type2Framing()
    case .type3: FeliCaFraming()
    case .mifareClassic: MIFAREClassicFraming()
    default: FirmwareFraming()
    }
  }
}

/// The chip cannot be used any more, and its device has to be closed.
package struct ChipFailure: Error {
  package let reason: String
  /// Whether the device's setup, which switches the field on, has begun but not finished.
  package var isFieldInDoubt: Bool
  /// Whether the chip may be at a rate of its line at which it does not answer.
  package var isRateInDoubt: Bool

  package init(reason: String, isFieldInDoubt: Bool = false, isRateInDoubt: Bool = false) {
    self.reason = reason
    self.isFieldInDoubt = isFieldInDoubt
    self.isRateInDoubt = isRateInDoubt
  }
}

/// The result of a command, if the chip is alive.
package enum ChipAnswer {
  case bytes([UInt8])
  /// The chip got no answer from the tag.
  case silence
  /// The tag does not have that key.
  case wrongKey
  /// With libnfc's number for the result.
  case refused(Int32)
}

/// The commands of a PN53x for an exchange with the selected tag.
package protocol Chip {
  /// To the selected tag, with the firmware's method for its kind (UM0701-02, 7.3.8).
  func exchange(_ command: [UInt8]) throws(ChipFailure) -> ChipAnswer

  /// To the selected tag. The chip adds the CRC and removes it from the answer (UM0701-02, 7.3.9).
  func communicateThru(_ frame: [UInt8]) throws(ChipFailure) -> ChipAnswer

  /// Sets how long the chip waits for a tag's answer to a raw frame (RFConfiguration, item 2). Code n means
  /// 100 µs × 2^(n − 1). The chip starts with 0A, 51.2 ms.
  func setAnswerTimeout(code: UInt8) throws(ChipFailure)

  /// In the given order (UM0701-02, 7.2.4). Returns one byte for each address, and none if the chip refuses.
  func readRegisters(_ addresses: [UInt16]) throws(ChipFailure) -> [UInt8]

  /// In the given order (UM0701-02, 7.2.5).
  func writeRegisters(_ writes: [(address: UInt16, value: UInt8)]) throws(ChipFailure)
}

/// MIFARE Classic: the firmware does authentication and cipher, and splits an access into its two frames.
package struct MIFAREClassicFraming: ChipFraming {
  package init() {}

  package func exchange(_ command: [UInt8], with chip: some Chip) throws(ChipFailure) -> ChipAnswer {
    let answer = try chip.exchange(command)
    // The tag answers a wrong key with silence, as it does other errors.
    if case .wrongKey = answer { return .silence }
    return answer
  }
}
