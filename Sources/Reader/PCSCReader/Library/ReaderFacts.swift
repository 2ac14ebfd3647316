import CPCSC
import Glibc
import ReaderModels
import ReaderProtocol

/// The USB numbers of a reader, as far as its driver tells them.
enum ReaderFacts {
  /// SCARD_ATTR_CHANNEL_ID (reader.h).
  private static let channelID: UInt32 = 0x2_0110
  /// The kind of channel in its high half: USB (PC/SC part 3, 3.1.4).
  private static let usb: UInt32 = 0x0020

  /// Asks the driver, over a connection without a card. Only a contactless reader is asked. Nil if another program uses
  /// the reader: the connection would wait for that program's transaction.
  static func reader(_ name: ReaderName, _ context: PCSCContext) -> PCSCReader? {
    let unknown = PCSCReader(name: name.text)
    guard ReaderModel.isContactlessName(name.text) else { return unknown }
    guard !isInUse(name, context) else { return nil }
    var card: SCARDHANDLE = 0
    var active: DWORD = 0
    let result = SCardConnect(context.handle, name.terminated, DWORD(SCARD_SHARE_DIRECT), 0, &card, &active)
    switch PCSCError(result: result) {
    case nil: break
    case PCSCError.sharingViolation?: return nil
    case _?: return unknown
    }
    defer { _ = SCardDisconnect(card, DWORD(SCARD_LEAVE_CARD)) }
    var identity: PCSCReader.Identity?
    if let features = try? CardWorker.control(card, ReaderProperties.featureRequest, []),
      let request = ReaderProperties.request(inFeatures: features),
      let answer = try? CardWorker.control(card, request, [])
    {
      let properties = ReaderProperties(answer)
      identity = properties.vendor.flatMap { vendor in
        properties.product.map { PCSCReader.Identity(vendor: vendor, product: $0) }
      }
    }
    var place: PCSCReader.Place?
    if let bytes = try? CardWorker.attribute(card, channelID), bytes.count == 4 {
      let channel = bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt32.self) }
      if channel >> 16 == usb { place = PCSCReader.Place(bus: Int(channel >> 8 & 0xFF), number: Int(channel & 0xFF)) }
    }
    return PCSCReader(name: name.text, identity: identity, place: place)
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
}

/// pcscd's name of a reader. It comes from the driver or from the device, so it may have any bytes.
struct ReaderName: Hashable, Sendable {
  /// Without the terminator.
  let bytes: [UInt8]

  /// Bytes that are not UTF-8, and control characters, are replaced.
  var text: String {
    let text = String(decoding: bytes, as: UTF8.self)
    guard text.unicodeScalars.contains(where: Self.isControl) else { return text }
    return String(
      String.UnicodeScalarView(text.unicodeScalars.map { Self.isControl($0) ? "\u{FFFD}" : $0 }))
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }

  var terminated: [CChar] { bytes.map { CChar(bitPattern: $0) } + [0] }

  /// The names in a list of terminated strings, which an empty string ends (`SCardListReaders`).
  static func all(in list: some Sequence<UInt8>) -> [ReaderName] {
    var names: [ReaderName] = []
    var bytes: [UInt8] = []
    for byte in list {
      guard byte == 0 else {
        bytes.append(byte)
        continue
      }
      if bytes.isEmpty { break }
      names.append(ReaderName(bytes: bytes))
      bytes = []
    }
    return names
  }
}

/// What a driver tells about its reader: the properties of PC/SC part 10, version 2.02.09, 2.6.14.
struct ReaderProperties: Hashable, Sendable {
  var vendor: UInt16?
  var product: UInt16?
  /// The most bytes of an APDU's data. 0 means that the reader takes only short APDUs.
  var mostAPDUData: UInt32?

  init() {}

  /// Parses the driver's answer: a tag, a length and a value for each property, the lowest byte of the value first.
  /// What follows a malformed property is ignored.
  init(_ answer: [UInt8]) {
    var rest = answer[...]
    while let tag = rest.popFirst(), let length = rest.popFirst(), rest.count >= length {
      let value = rest.prefix(Int(length)).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      rest = rest.dropFirst(Int(length))
      switch (tag, length) {
      case (0x0A, 4): mostAPDUData = UInt32(truncatingIfNeeded: value)
      case (0x0B, 2): vendor = UInt16(truncatingIfNeeded: value)
      case (0x0C, 2): product = UInt16(truncatingIfNeeded: value)
      default: break
      }
    }
  }

  /// CM_IOCTL_GET_FEATURE_REQUEST: which features the driver has.
  static let featureRequest = controlCode(3400)

  /// The control code that asks for the properties, from the answer to `featureRequest` (part 10, 2.3): a tag, a length
  /// and a control code for each feature, the highest byte first. Nil if the driver has no properties.
  static func request(inFeatures answer: [UInt8]) -> UInt32? {
    var rest = answer[...]
    while rest.count >= 6 {
      let feature = Array(rest.prefix(6))
      rest = rest.dropFirst(6)
      guard feature[1] == 4 else { return nil }
      if feature[0] == 0x12 { return feature[2...].reduce(0) { $0 << 8 | UInt32($1) } }
    }
    return nil
  }

  /// SCARD_CTL_CODE of pcsc-lite's reader.h.
  static func controlCode(_ number: UInt32) -> UInt32 { 0x4200_0000 + number }
}
