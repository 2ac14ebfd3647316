import PN53x
import ReaderModels
import Tags

/// Type 2. Every reader reads and writes pages. For other commands, it has to pass on raw frames.
extension CardLink {
  private static var read: UInt8 { 0x30 }
  private static var write: UInt8 { 0xA2 }
  private static var pageSize: Int { 4 }
  private static var readSize: Int { 16 }
  /// READ and WRITE take at most 5 ms, and the cryptography of an NTAG about 20 ms.
  private static var usualTime: UInt32 { 50_000 }
  /// A tag refuses a sector within 1 ms.
  private static var passiveTime: UInt32 { 5_000 }

  mutating func exchangeType2(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
    if model.rawFrames == .pn532 { return try exchange(command, with: Type2Framing()) }
    // A reader with an open session need not take other pseudo-APDUs.
    if case .open = transparentSession { return try transceiveType2(command) }
    switch (command.first, command.count) {
    case (Self.read, 2): return try readPages(from: Int(command[1]))
    case (Self.write, 6):
      try fetch(.update(Int(command[1]), Array(command[2...])))
      return [Type2Framing.acknowledgement]
    default: break
    }
    switch model.rawFrames {
    case .transparent: return try transceiveType2(command)
    case .springCard where !Type2Framing.isAcknowledged(command):
      return try fetch(PseudoAPDU(0xFE, 0x01, 0x08, data: command))
    default: throw TagChannelError(.unsupported, "this reader does not pass on raw commands")
    }
  }

  /// Four pages, as READ returns them. A reader may return fewer at once.
  private mutating func readPages(from page: Int) throws(TagChannelError) -> [UInt8] {
    var bytes = try fetch(.read(page, UInt8(Self.readSize)))
    while bytes.count < Self.readSize {
      guard !bytes.isEmpty, bytes.count % Self.pageSize == 0 else {
        throw TagChannelError(.transmission, "the reader returned \(bytes.count) bytes, which are no pages")
      }
      // As the tag itself does, start over behind the last page.
      let next = (page + bytes.count / Self.pageSize) & 0xFF
      let more = try fetch(.read(next, UInt8(Self.pageSize)))
      guard more.count >= Self.pageSize else {
        throw TagChannelError(.transmission, "the reader returned \(more.count) bytes of page \(next)")
      }
      bytes += more.prefix(Self.pageSize)
    }
    return Array(bytes.prefix(Self.readSize))
  }

  private mutating func transceiveType2(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
    let isPassive = Type2Framing.isConfirmedBySilence(command)
    return try transceive(
      command, .typeA, checksAnswer: !isPassive && !Type2Framing.isAcknowledged(command),
      within: isPassive ? Self.passiveTime : Self.usualTime)
  }
}
