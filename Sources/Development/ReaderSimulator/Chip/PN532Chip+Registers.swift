/// The chip's registers (UM0701-02, section 8.2.5). Those that do not matter to the simulation only store their value.
struct PN532Registers {
  static let txMode: UInt16 = 0x6302
  static let rxMode: UInt16 = 0x6303
  static let manualReceive: UInt16 = 0x630D
  static let command: UInt16 = 0x6331
  static let fifoData: UInt16 = 0x6339
  static let fifoLevel: UInt16 = 0x633A
  static let control: UInt16 = 0x633C
  static let bitFraming: UInt16 = 0x633D

  // The reset values of TxMode and RxMode switch the CRC on, and libnfc relies on that.
  private var values: [UInt16: UInt8] = [txMode: 0x80, rxMode: 0x80]

  /// A register that was never written reads as zero.
  subscript(address: UInt16) -> UInt8 {
    get { values[address, default: 0] }
    set { values[address] = newValue }
  }

  /// Sets the registers as InListPassiveTarget does. They hold the modulation of the selected tag, with a CRC, and the
  /// first byte of the last frame on the air. If no tag answered, that frame is the request. nfcpy depends on both
  /// values. In a real PN532 it finds SENS_REQ (REQA) after a poll for Type A without a tag. REQA is therefore stored
  /// here too, although the model's request is WUPA. `found` says whether a tag is selected now.
  mutating func looked(for modulation: RadioModulation, found: Bool, lastFrame: [UInt8]) {
    let last = lastFrame.first ?? 0
    self[Self.fifoData] = last == RadioInterface.wupa ? RadioInterface.reqa : last
    guard found else { return }
    let speedAndFraming: UInt8 =
      switch modulation {
      case .typeA, .jewel, .vicinity: 0x00
      case .typeB: 0x03
      case .felica212: 0x12
      case .felica424: 0x22
      }
    self[Self.txMode] = 0x80 | speedAndFraming
    self[Self.rxMode] = 0x80 | speedAndFraming
  }

  /// Whether the chip appends a CRC to the frames that it sends.
  var appendsCRC: Bool { self[Self.txMode] & 0x80 != 0 }

  /// Whether the chip checks and removes the CRC of the frames that it receives.
  var checksCRC: Bool { self[Self.rxMode] & 0x80 != 0 }

  /// The modulation of a raw frame: the framing and the bit rate in TxMode.
  ///
  /// Jewel has the framing of Type A, and no register tells the two apart.
  var modulation: RadioModulation {
    switch self[Self.txMode] & 0x73 {
    case 0x03: .typeB
    case 0x12: .felica212
    case 0x22: .felica424
    default: .typeA
    }
  }

  /// Whether bytes have parity bits. ManualRCV switches them off.
  var hasParity: Bool { self[Self.manualReceive] & 0x10 == 0 }

  /// How many bits of the last byte are sent, 0 for all eight.
  var transmitLastBits: Int { Int(self[Self.bitFraming] & 0x07) }

  /// How many bits of the last received byte are valid, 0 for all eight.
  var receiveLastBits: Int {
    get { Int(self[Self.control] & 0x07) }
    set { self[Self.control] = self[Self.control] & ~0x07 | UInt8(truncatingIfNeeded: newValue & 0x07) }
  }
}

/// The bytes that a host exchanges without the firmware, through the registers of the contactless interface unit
/// (UM0701-02, sections 7.2.4 and 7.2.5; the unit is that of a PN512).
///
/// Only one use is modelled: the commands of Type 1 tags that the firmware does not know. Each byte is a separate
/// frame: the first has seven bits, and the others have no parity. The unit adds no CRC to these frames, because the
/// firmware switched that off when it polled for the tag.
struct ByteFrames {
  static let size = 64

  /// The unit's FIFO, which both directions share.
  var queue: [UInt8] = []
  /// The bytes sent so far as separate frames. Nil after a frame of any other kind.
  var sent: [UInt8]?

  /// Sends the contents of the queue as a frame.
  mutating func transmit(lastBits: Int, hasParity: Bool) {
    let isFirst = lastBits == 7
    let isRight = queue.count == 1 && (isFirst || lastBits == 0 && !hasParity)
    sent = isRight ? (isFirst ? [] : sent).map { $0 + queue } : nil
    queue = []
  }

  /// Puts an answer into the queue. If the unit does not check parity, the queue holds the parity bits between the
  /// data.
  mutating func receive(_ bytes: [UInt8], hasParity: Bool) {
    guard !hasParity else { return queue = Array(bytes.prefix(Self.size)) }
    var bits: [UInt8] = []
    for byte in bytes {
      for position: UInt8 in 0..<8 { bits.append(byte >> position & 1) }
      bits.append(byte.nonzeroBitCount.isMultiple(of: 2) ? 1 : 0)
    }
    queue = []
    for start in stride(from: 0, to: bits.count, by: 8).prefix(Self.size) {
      let end = min(start + 8, bits.count)
      queue.append(bits[start..<end].reversed().reduce(0 as UInt8) { ($0 << 1) | $1 })
    }
  }
}

extension PN532Chip {
  private static let transmit: UInt8 = 0x04
  private static let receive: UInt8 = 0x08

  mutating func readRegister(at address: UInt16) -> UInt8 {
    switch address {
    // Otherwise the value that the last InListPassiveTarget left there.
    case PN532Registers.fifoData where !byteFrames.queue.isEmpty: byteFrames.queue.removeFirst()
    case PN532Registers.fifoLevel: UInt8(truncatingIfNeeded: byteFrames.queue.count)
    default: registers[address]
    }
  }

  mutating func writeRegister(_ value: UInt8, at address: UInt16) {
    if address != PN532Registers.fifoData { registers[address] = value }
    switch address {
    case PN532Registers.fifoData: if byteFrames.queue.count < ByteFrames.size { byteFrames.queue.append(value) }
    case PN532Registers.fifoLevel where value & 0x80 != 0: byteFrames.queue = []
    case PN532Registers.command where value & 0x0F == Self.transmit:
      byteFrames.transmit(lastBits: registers.transmitLastBits, hasParity: registers.hasParity)
    case PN532Registers.command where value & 0x0F == Self.receive: receiveByteFrames()
    default: break
    }
  }

  private mutating func receiveByteFrames() {
    guard let bytes = byteFrames.sent, !bytes.isEmpty else { return }
    byteFrames.sent = nil
    guard case .frame(let answer) = radio.transceive(RadioFrame(modulation: .jewel, bytes: bytes), for: .exchange)
    else { return }
    byteFrames.receive(answer.bytes, hasParity: registers.hasParity)
    registers.receiveLastBits = registers.hasParity ? 0 : answer.bytes.count * 9 % 8
  }
}
