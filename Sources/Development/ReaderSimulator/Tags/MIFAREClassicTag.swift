/// The commands of MIFARE Classic (MF1S50YYX_V1 data sheet, section 9), without its value blocks.
///
/// There is no cipher: the two frames of an authentication carry the key and the UID as they are, and the following
/// frames are plain. The host cannot see the difference, because the chip does the cipher.
struct MIFAREClassicTag: TypeAApplication {
  private enum Pending {
    case authentication(block: Int, MIFAREClassicMemory.Key)
    case write(block: Int)
  }

  private static let notAllowed: UInt8 = 0x4
  private static let transmissionError: UInt8 = 0x5
  /// The challenge that the tag always sends.
  private static let challenge: [UInt8] = [0x01, 0x20, 0x01, 0x45]

  private let uid: [UInt8]
  private var blocks: MIFAREClassicMemory
  /// The sector that is open, and the key that opened it.
  private var opened: (sector: Int, key: MIFAREClassicMemory.Key)?
  private var pending: Pending?

  init(_ blocks: MIFAREClassicMemory, uid: [UInt8]) {
    self.blocks = blocks
    self.uid = uid
  }

  var atqa: [UInt8] { [uid.count == 4 ? blocks.model.atqa : blocks.model.atqa | 0x40, 0x00] }
  var sak: UInt8 { blocks.model.sak }
  var memory: [UInt8] { blocks.bytes }
  mutating func tearWrites(_ tear: WriteTear?) { blocks.writeTear = tear }
  var isInBlockProtocol: Bool { false }

  mutating func deactivate() {
    opened = nil
    pending = nil
  }

  mutating func receive(_ data: [UInt8]?) -> TypeAReply {
    guard let data, let command = data.first else { return .refuse(Self.transmissionError) }
    switch pending {
    case .authentication(let block, let key):
      pending = nil
      return authenticate(block, key, data)
    case .write(let block):
      pending = nil
      return write(data, block)
    case nil: break
    }
    guard data.count == 2 else { return .refuse(Self.notAllowed) }
    let block = Int(data[1])
    guard block < blocks.model.blockCount else { return .refuse(Self.notAllowed) }
    switch command {
    case 0x60, 0x61:
      opened = nil
      pending = .authentication(block: block, command == 0x60 ? .a : .b)
      return .data(Self.challenge)
    case 0x30:
      guard let key = key(for: block), let contents = blocks.read(block, with: key) else {
        return .refuse(Self.notAllowed)
      }
      return .data(contents)
    case 0xA0:
      guard key(for: block) != nil else { return .refuse(Self.notAllowed) }
      pending = .write(block: block)
      return .acknowledge
    default: return .refuse(Self.notAllowed)
    }
  }

  private mutating func authenticate(_ block: Int, _ key: MIFAREClassicMemory.Key, _ data: [UInt8]) -> TypeAReply {
    let sector = MIFAREClassicModel.sector(of: block)
    guard data == blocks.key(key, of: sector) + uid.suffix(4) else { return .leave }
    opened = (sector, key)
    return .data(Self.challenge)
  }

  private mutating func write(_ contents: [UInt8], _ block: Int) -> TypeAReply {
    guard let key = key(for: block), blocks.write(contents, to: block, with: key) else {
      return .refuse(Self.notAllowed)
    }
    return .acknowledge
  }

  private func key(for block: Int) -> MIFAREClassicMemory.Key? {
    guard let opened, opened.sector == MIFAREClassicModel.sector(of: block) else { return nil }
    return opened.key
  }
}
