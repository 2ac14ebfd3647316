import Tags

/// How the commands of one kind of tag, in the form that `TagChannel` has for them, go through a PN53x.
protocol ChipFraming {
  /// Sends a command to the selected tag.
  ///
  /// - Parameters:
  ///   - command: as `TagChannel` says.
  ///   - device: the chip.
  /// - Returns: the answer as `TagChannel` says.
  /// - Throws: `Device.Failure` where the chip does not answer.
  func exchange(_ command: [UInt8], with device: Device) throws(Device.Failure) -> Device.Answer
}

/// The firmware knows the protocol and does all of it: ISO-DEP.
struct FirmwareFraming: ChipFraming {
  func exchange(_ command: [UInt8], with device: Device) throws(Device.Failure) -> Device.Answer {
    try device.exchange(command)
  }
}

extension TagActivation {
  var framing: any ChipFraming {
    switch type {
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
