/// Commands that concern only the chip (UM0701-02, sections 7.2 and 7.3.1).
extension PN532Chip {
  /// Bit 4 of SetParameters: the chip sends RATS without a command from the host.
  var sendsRATS: Bool { parameters & 0x10 != 0 }

  mutating func diagnose(_ data: [UInt8]) -> Outcome {
    switch data.first {
    case 0x00, 0x05: return .answer(data.first == 0x00 ? data : [])
    case 0x01, 0x02, 0x07: return .answer([PN532Status.success])
    // The number of failed polls for a FeliCa target: all 128.
    case 0x04: return .answer([0x80])
    case 0x06: return .answer([attentionRequest()])
    default: return .refuse
    }
  }

  mutating func getGeneralStatus() -> Outcome {
    var answer: [UInt8] = [lastError, 0, UInt8(truncatingIfNeeded: targets.count)]
    for (index, _) in targets.enumerated() {
      // 106 kbit/s in both directions, Type A.
      answer += [UInt8(truncatingIfNeeded: index + 1), 0x00, 0x00, 0x00]
    }
    return .answer(answer + [0x80])
  }

  mutating func readRegister(_ data: [UInt8]) -> Outcome {
    guard !data.isEmpty, data.count.isMultiple(of: 2) else { return .refuse }
    var values: [UInt8] = []
    for index in stride(from: 0, to: data.count, by: 2) {
      values.append(readRegister(at: UInt16(data[index]) << 8 | UInt16(data[index + 1])))
    }
    return .answer(values)
  }

  mutating func writeRegister(_ data: [UInt8]) -> Outcome {
    guard !data.isEmpty, data.count.isMultiple(of: 3) else { return .refuse }
    for index in stride(from: 0, to: data.count, by: 3) {
      writeRegister(data[index + 2], at: UInt16(data[index]) << 8 | UInt16(data[index + 1]))
    }
    return .answer([])
  }

  mutating func setParameters(_ data: [UInt8]) -> Outcome {
    guard data.count == 1 else { return .refuse }
    parameters = data[0]
    return .answer([])
  }

  func samConfiguration(_ data: [UInt8]) -> Outcome {
    guard let mode = data.first, (1...4).contains(mode) else { return .refuse }
    return .answer([])
  }

  mutating func powerDown() -> Outcome {
    releaseAll()
    radio.switchField(on: false)
    return .answer([PN532Status.success])
  }

  mutating func rfConfiguration(_ data: [UInt8]) -> Outcome {
    guard let item = data.first else { return .refuse }
    let values = Array(data.dropFirst())
    switch (item, values.count) {
    case (0x01, 1): radio.switchField(on: values[0] & 0x01 != 0)
    case (0x02, 3): radio.timeoutCode = values[2]
    case (0x05, 3): retries = (values[0], values[1], values[2])
    case (0x04, 1): radio.retries = values[0]
    case (0x0A, 11), (0x0B, 8), (0x0C, 3), (0x0D, 9): break
    default: return .refuse
    }
    return .answer([])
  }
}
