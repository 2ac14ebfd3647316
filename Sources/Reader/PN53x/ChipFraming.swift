import Names
package import Tags

/// Sends the commands of one kind of tag through a PN53x, in the format that `TagChannel` defines.
package protocol ChipFraming {
  /// Sends a command to the selected tag. Command and answer have the format of `TagChannel`.
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
