import Tags

/// How the commands of one kind of tag, in the form that `TagChannel` has for them, go through a PN53x.
protocol ChipFraming {
  /// Sends a command to the selected tag.
  ///
  /// - Parameters:
  ///   - command: as `TagChannel` says.
  ///   - chip: the chip.
  /// - Returns: the answer as `TagChannel` says.
  /// - Throws: `ChipFailure` where the chip does not answer.
  func exchange(_ command: [UInt8], with chip: some Chip) throws(ChipFailure) -> ChipAnswer
}

/// The firmware knows the protocol and does all of it: ISO-DEP.
struct FirmwareFraming: ChipFraming {
  func exchange(_ command: [UInt8], with chip: some Chip) throws(ChipFailure) -> ChipAnswer {
    try chip.exchange(command)
  }
}

/// The firmware passes FeliCa frames on as they are, but for the checksum: their length byte is the host's.
struct FeliCaFraming: ChipFraming {
  func exchange(_ command: [UInt8], with chip: some Chip) throws(ChipFailure) -> ChipAnswer {
    guard command.count < 255 else { return .silence }
    let answer = try chip.exchange([UInt8(truncatingIfNeeded: command.count + 1)] + command)
    guard case .bytes(let bytes) = answer else { return answer }
    guard let length = bytes.first, Int(length) == bytes.count else { return .silence }
    return .bytes(Array(bytes.dropFirst()))
  }
}

extension TagActivation {
  var framing: any ChipFraming {
    switch type {
    case .type1: Type1Framing()
    case .type2: Type2Framing()
    case .type3: FeliCaFraming()
    case .mifareClassic: MIFAREClassicFraming()
    default: FirmwareFraming()
    }
  }

  /// What finds this tag again.
  var modulation: Modulation {
    switch self {
    case .typeA: .typeA
    case .typeB: .typeB
    case .felica(let tag): tag.bitRate == 424 ? .felica424 : .felica212
    case .jewel: .jewel
    }
  }
}
