/// The chip's registers as far as they matter to what is simulated (UM0701-02, section 8.2.5); the rest just remember.
struct PN532Registers {
  static let txMode: UInt16 = 0x6302
  static let rxMode: UInt16 = 0x6303
  static let manualReceive: UInt16 = 0x630D
  static let command: UInt16 = 0x6331
  static let fifoData: UInt16 = 0x6339
  static let fifoLevel: UInt16 = 0x633A
  static let control: UInt16 = 0x633C
  static let bitFraming: UInt16 = 0x633D

  // The reset values of TxMode and RxMode have the CRC on; libnfc counts on that.
  private var values: [UInt16: UInt8] = [txMode: 0x80, rxMode: 0x80]

  /// A register that was never written reads as zero.
  subscript(address: UInt16) -> UInt8 {
    get { values[address, default: 0] }
    set { values[address] = newValue }
  }

  /// What InListPassiveTarget leaves behind: the modulation of the tag that it selected, whose frames have a CRC, and what
  /// went over the air last, which is the request itself where nothing answered. nfcpy goes by both. It finds SENS_REQ (REQA)
  /// in a PN532 after a fruitless look for Type A, so that is what stands here, though the model's request is WUPA.
  ///
  /// - Parameters:
  ///   - modulation: what was looked for.
  ///   - found: whether a tag is selected now.
  ///   - lastFrame: what went over the air last.
  mutating func looked(for modulation: RadioModulation, found: Bool, lastFrame: [UInt8]) {
    let last = lastFrame.first ?? 0
    self[Self.fifoData] = last == RadioInterface.wupa ? RadioInterface.reqa : last
    guard found else { return }
    let speedAndFraming: UInt8 =
      switch modulation {
      case .typeA, .jewel: 0x00
      case .typeB: 0x03
      case .felica212: 0x12
      case .felica424: 0x22
      }
    self[Self.txMode] = 0x80 | speedAndFraming
    self[Self.rxMode] = 0x80 | speedAndFraming
  }

  /// Whether the chip appends a CRC to what it sends.
  var appendsCRC: Bool { self[Self.txMode] & 0x80 != 0 }

  /// Whether the chip checks the CRC of what it receives, and takes it off.
  var checksCRC: Bool { self[Self.rxMode] & 0x80 != 0 }

  /// What a raw frame is sent as: the framing and the bit rate in TxMode.
  ///
  /// Jewel has Type A's framing, and what tells it apart is not in a register.
  var modulation: RadioModulation {
    switch self[Self.txMode] & 0x73 {
    case 0x03: .typeB
    case 0x12: .felica212
    case 0x22: .felica424
    default: .typeA
    }
  }

  /// Whether bytes have parity bits: ManualRCV switches them off.
  var hasParity: Bool { self[Self.manualReceive] & 0x10 == 0 }

  /// How many bits of the last byte are sent, 0 for all eight.
  var transmitLastBits: Int { Int(self[Self.bitFraming] & 0x07) }

  /// How many bits of the last received byte are valid, 0 for all eight.
  var receiveLastBits: Int {
    get { Int(self[Self.control] & 0x07) }
    set { self[Self.control] = self[Self.control] & ~0x07 | UInt8(truncatingIfNeeded: newValue & 0x07) }
  }
}
