/// The state of a transparent session (PC/SC part 3, version 2.02.00, section 3.2.2.6).
struct SimulatedTransparentSession {
  /// The standards of the command Switch Protocol.
  enum Standard: UInt8 {
    case typeA = 0x00
    case typeB = 0x01
    case vicinity = 0x02
    case felica = 0x03
  }

  var isOpen = false
  /// The standard that the program chose; nil for that of the card.
  var standard: Standard?
  /// Whether APDUs are exchanged rather than frames.
  var isLayer4 = false
  /// Whether the reader adds the checksum of a frame, and removes it.
  var addsChecksum = true
  var removesChecksum = true
}

/// FF C2: manage the session, exchange frames, switch the protocol.
extension ContactlessInterface {
  private static let malformed: [UInt8] = [0x6A, 0x80]
  private static let wrongOrder: [UInt8] = [0x69, 0x85]

  mutating func performTransparent(_ command: ReaderAPDU) -> [UInt8] {
    guard let objects = BERObject.objects(in: command.data) else { return status(0x01, Self.malformed) }
    switch command.parameter2 {
    case 0x00: return manage(objects)
    case 0x01: return exchange(objects)
    case 0x02: return switchProtocol(objects)
    default: return refusal(ResponseStatus.notSupported)
    }
  }

  /// An answer with the status of the objects: the number of the first one that failed, or 0, and its status word.
  private func status(_ failed: UInt8, _ word: [UInt8], _ more: [BERObject] = []) -> [UInt8] {
    ([BERObject(tag: 0xC0, value: [failed] + word)] + more).flatMap(\.bytes) + ResponseStatus.success
  }

  private mutating func manage(_ objects: [BERObject]) -> [UInt8] {
    for (index, object) in objects.enumerated() {
      switch object.tag {
      case 0x81:
        session = SimulatedTransparentSession()
        session.isOpen = true
      case 0x82: session = SimulatedTransparentSession()
      case 0x83: _ = self.command([0x32, 0x01, 0x00])
      case 0x84:
        _ = self.command([0x32, 0x01, 0x01])
        selectFound()
      // The timeout, and the version.
      case 0x5F46, 0x80: break
      default: return status(UInt8(truncatingIfNeeded: index + 1), ResponseStatus.notSupported)
      }
    }
    return status(0, ResponseStatus.success)
  }

  /// Chooses standard and layer, and selects the card.
  private mutating func switchProtocol(_ objects: [BERObject]) -> [UInt8] {
    guard session.isOpen else { return status(0x01, Self.wrongOrder) }
    guard let choice = objects.first(where: { $0.tag == 0x8F })?.value, choice.count == 2,
      let standard = SimulatedTransparentSession.Standard(rawValue: choice[0])
    else { return status(0x01, Self.malformed) }
    session.standard = standard
    session.isLayer4 = choice[1] == 0x04
    guard found.map({ $0.speaks(standard) }) == true else { return status(0x01, ResponseStatus.noAnswer) }
    selectFound()
    return status(0, ResponseStatus.success)
  }

  private mutating func exchange(_ objects: [BERObject]) -> [UInt8] {
    guard session.isOpen, let found else { return status(0x01, Self.wrongOrder) }
    for (index, object) in objects.enumerated() {
      switch object.tag {
      // Bits 0 and 1 of the second byte switch the checksum off.
      case 0x90 where object.value.count == 2:
        session.addsChecksum = object.value[1] & 0x01 == 0
        session.removesChecksum = object.value[1] & 0x02 == 0
      case 0x5F46, 0x91, 0x92: break
      // The frame of a FeliCa card begins with its length.
      case 0x95 where object.value.count >= 2 && model.refusedFeliCaCodes.contains(object.value[1]):
        return status(UInt8(truncatingIfNeeded: index + 1), Self.malformed)
      case 0x95:
        let answer = session.isLayer4 ? exchangeInLayer4(object.value) : exchangeFrame(object.value, found)
        guard let answer else { return status(UInt8(truncatingIfNeeded: index + 1), ResponseStatus.noAnswer) }
        return status(
          0, ResponseStatus.success,
          [
            BERObject(tag: 0x92, value: [UInt8(truncatingIfNeeded: answer.lastBits)]),
            BERObject(tag: 0x96, value: [0x00, 0x00]), BERObject(tag: 0x97, value: answer.bytes),
          ])
      default: return status(UInt8(truncatingIfNeeded: index + 1), ResponseStatus.notSupported)
      }
    }
    return status(0, ResponseStatus.success)
  }

  private mutating func exchangeInLayer4(_ command: [UInt8]) -> (bytes: [UInt8], lastBits: Int)? {
    guard let answer = try? exchange(command) else { return nil }
    return (answer, 0)
  }

  /// The tag's frame, of whole bytes or of fewer bits.
  private mutating func exchangeFrame(_ data: [UInt8], _ card: FoundCard) -> (bytes: [UInt8], lastBits: Int)? {
    let modulation = card.modulation
    let frame =
      session.addsChecksum ? RadioFrame.standard(data, modulation) : RadioFrame(modulation: modulation, bytes: data)
    chip.radio.beginCommand(at: .zero)
    guard case .frame(let answer) = chip.radio.transceive(frame, for: .exchange) else { return nil }
    if answer.lastBits != 0 || !session.removesChecksum { return (answer.bytes, answer.lastBits) }
    return answer.checkedData.map { ($0, 0) }
  }
}

extension FoundCard {
  var modulation: RadioModulation {
    switch self {
    case .typeA: .typeA
    case .typeB: .typeB
    case .felica(_, _, let modulation): modulation
    case .jewel: .jewel
    case .vicinity: .vicinity
    }
  }

  func speaks(_ standard: SimulatedTransparentSession.Standard) -> Bool {
    switch self {
    case .typeA, .jewel: standard == .typeA
    case .typeB: standard == .typeB
    case .felica: standard == .felica
    case .vicinity: standard == .vicinity
    }
  }
}
