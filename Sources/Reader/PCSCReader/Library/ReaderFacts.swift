import CPCSC
import Glibc
import ReaderModels

/// The USB numbers of a reader, as far as its driver tells them.
struct ReaderFacts {
  private var vendor: UInt16?
  private var product: UInt16?
  private var place: (bus: Int, device: Int)?

  /// SCARD_ATTR_CHANNEL_ID (reader.h).
  private static let channelID: UInt32 = 0x2_0110
  /// The kind of channel in its high half: USB (PC/SC part 3, 3.1.4).
  private static let usb: UInt32 = 0x0020

  /// Asks the driver, over a connection without a card. Only a contactless reader is asked. Nil if another program uses
  /// the reader: the connection would wait for that program's transaction.
  static func ofContactless(_ name: ReaderName, _ context: PCSCContext) -> ReaderFacts? {
    var facts = ReaderFacts()
    guard ReaderModel.isContactlessName(name.text) else { return facts }
    guard !isInUse(name, context) else { return nil }
    var card: SCARDHANDLE = 0
    var active: DWORD = 0
    let result = SCardConnect(context.handle, name.terminated, DWORD(SCARD_SHARE_DIRECT), 0, &card, &active)
    switch PCSCError(result: result) {
    case nil: break
    case PCSCError.sharingViolation?: return nil
    case _?: return facts
    }
    defer { _ = SCardDisconnect(card, DWORD(SCARD_LEAVE_CARD)) }
    if let features = try? CardWorker.control(card, ReaderProperties.featureRequest, []),
      let request = ReaderProperties.request(inFeatures: features),
      let answer = try? CardWorker.control(card, request, [])
    {
      let properties = ReaderProperties(answer)
      (facts.vendor, facts.product) = (properties.vendor, properties.product)
    }
    if let bytes = try? CardWorker.attribute(card, channelID), bytes.count == 4 {
      let channel = bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
      if channel >> 16 == usb { facts.place = (Int(channel >> 8 & 0xFF), Int(channel & 0xFF)) }
    }
    return facts
  }

  private static func isInUse(_ name: ReaderName, _ context: PCSCContext) -> Bool {
    name.terminated.withUnsafeBufferPointer { name in
      var state = SCARD_READERSTATE()
      state.szReader = name.baseAddress
      let result = SCardGetStatusChange(context.handle, 0, &state, 1)
      let word = UInt32(truncatingIfNeeded: state.dwEventState)
      return result == 0 && word & (SlotState.Bits.exclusive | SlotState.Bits.inUse) != 0
    }
  }

  /// The numbers in the output of `--watch`: `072f:223b 001:005`.
  var text: String {
    let identity = vendor.flatMap { vendor in
      product.map { Self.digits(Int(vendor), 16, 4) + ":" + Self.digits(Int($0), 16, 4) }
    }
    let place = place.map { Self.digits($0.bus, 10, 3) + ":" + Self.digits($0.device, 10, 3) }
    return "\(identity ?? "-") \(place ?? "-")"
  }

  private static func digits(_ number: Int, _ radix: Int, _ count: Int) -> String {
    let digits = String(number, radix: radix)
    return String(repeating: "0", count: max(0, count - digits.count)) + digits
  }
}
