/// The reader's side of the block protocol (ISO/IEC 14443-4, section 7), for one tag.
struct BlockProtocol {
  /// Type A or Type B of ISO/IEC 14443.
  let modulation: RadioModulation
  /// The largest frame that the tag accepts, in bytes.
  let frameSize: Int
  private var blockNumber: UInt8 = 0

  /// The chip accepts frames of 64 bytes (FSDI 5) and numbers no tags (CID 0).
  static let rats: [UInt8] = [0xE0, 0x50]
  /// The longest answer to an extended APDU: 65,536 bytes and the status word.
  private static let maximumAnswer = 65_538
  /// If a tag asks for more time more often than this, the chip gives up.
  private static let maximumExtensions = 100
  /// How often the chip asks again for a missing or broken answer. The manual does not say, and the standard leaves the
  /// number open.
  private static let maximumRetries = 2

  /// `ats` is the answer to select as the tag sent it, starting with its length byte.
  init(ats: [UInt8]) {
    modulation = .typeA
    // The size is 32 without a format byte.
    frameSize = ats.count >= 2 && ats[0] >= 2 ? ISODEP.frameSize(code: ats[1] & 0x0F) : 32
  }

  /// `protocolInfo` is from the answer to REQB. The high half of its second byte is the frame size.
  init(protocolInfo: [UInt8]) {
    modulation = .typeB
    frameSize = ISODEP.frameSize(code: protocolInfo.count >= 2 ? protocolInfo[1] >> 4 : 0)
  }

  /// Sends an APDU in as many blocks as it takes, and collects the answer.
  mutating func transceive(_ data: [UInt8], over radio: inout RadioInterface) throws(PN532Failure) -> [UInt8] {
    let room = frameSize - 3
    var rest = data[...]
    repeat {
      let piece = rest.prefix(room)
      rest = rest.dropFirst(room)
      let chaining: UInt8 = rest.isEmpty ? 0x00 : 0x10
      let answer = try exchange([0x02 | chaining | blockNumber] + piece, over: &radio)
      guard !rest.isEmpty else { return try collect(answer, over: &radio) }
      guard answer[0] & 0xF6 == 0xA2, answer[0] & 1 == blockNumber else {
        throw PN532Failure(PN532Status.protocolError)
      }
      blockNumber ^= 1
    } while true
  }

  private mutating func collect(_ first: [UInt8], over radio: inout RadioInterface) throws(PN532Failure) -> [UInt8] {
    var block = first
    var collected: [UInt8] = []
    var extensions = 0
    while true {
      if block[0] & 0xF7 == 0xF2 {
        // The tag asks for more time: grant it.
        extensions += 1
        guard extensions <= Self.maximumExtensions else { throw PN532Failure(PN532Status.timeout) }
        block = try exchange(block, over: &radio)
        continue
      }
      guard block[0] & 0xE6 == 0x02, block[0] & 1 == blockNumber else {
        throw PN532Failure(PN532Status.protocolError)
      }
      blockNumber ^= 1
      collected += block.dropFirst()
      guard collected.count <= Self.maximumAnswer else { throw PN532Failure(PN532Status.protocolError) }
      guard block[0] & 0x10 != 0 else { return collected }
      block = try exchange([0xA2 | blockNumber], over: &radio)
    }
  }

  /// Whether the tag still answers. A tag answers R(NAK) after any block.
  mutating func isPresent(over radio: inout RadioInterface) -> Bool {
    (try? transmit([0xB2 | blockNumber], over: &radio)) != nil
  }

  /// S(DESELECT), which halts the tag.
  mutating func deselect(over radio: inout RadioInterface) {
    _ = try? transmit([0xC2], over: &radio, for: .activation)
  }

  /// Sends a block and waits for the answer (section 7.5.4). If the answer is missing or broken, the chip asks for it
  /// with R(NAK). If the block was an R(ACK), which asks for the next block of a chain, the chip repeats that instead.
  /// A tag that missed the block replies with R(ACK) and the previous block number; the chip then repeats the block.
  private func exchange(_ block: [UInt8], over radio: inout RadioInterface) throws(PN532Failure) -> [UInt8] {
    var next = block
    var (failures, repetitions) = (0, 0)
    while true {
      do throws(PN532Failure) {
        let answer = try transmit(next, over: &radio)
        let isUnheard = block[0] & 0xC0 == 0x00 && answer[0] & 0xF6 == 0xA2 && answer[0] & 1 != blockNumber
        guard isUnheard, repetitions < Self.maximumRetries else { return answer }
        repetitions += 1
        next = block
      } catch {
        guard failures < Self.maximumRetries else { throw error }
        failures += 1
        next = block[0] & 0xF6 == 0xA2 ? block : [0xB2 | blockNumber]
      }
    }
  }

  private func transmit(
    _ block: [UInt8], over radio: inout RadioInterface, for purpose: RadioInterface.Purpose = .exchange
  ) throws(PN532Failure) -> [UInt8] {
    switch radio.transceive(.standard(block, modulation), for: purpose) {
    case .silence: throw PN532Failure(PN532Status.timeout)
    case .collision: throw PN532Failure(PN532Status.bitCollision)
    case .frame(let frame):
      guard let data = frame.checkedData else { throw PN532Failure(PN532Status.crcError) }
      return data
    }
  }
}

/// Definitions for both sides of ISO/IEC 14443-4.
enum ISODEP {
  private static let frameSizes = [16, 24, 32, 40, 48, 64, 96, 128, 256]

  /// The size of a frame in bytes, including header and checksum, for FSDI, FSCI or its counterpart in Type B.
  static func frameSize(code: UInt8) -> Int { frameSizes[min(Int(code), frameSizes.count - 1)] }
}

/// Makes a command end with this status byte.
struct PN532Failure: Error {
  let status: UInt8
  init(_ status: UInt8) { self.status = status }
}
