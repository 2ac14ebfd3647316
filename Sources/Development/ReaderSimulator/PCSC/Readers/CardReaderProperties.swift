/// What a reader tells about itself: attributes (SCardGetAttrib), features and properties (PC/SC part 10, section 2),
/// and escape commands.
struct CardReaderProperties: Sendable {
  /// CM_IOCTL_GET_FEATURE_REQUEST: SCARD_CTL_CODE(3400).
  private static let featureRequest: UInt32 = 0x4200_0D48
  /// The control codes that libccid gives its features.
  private static let tlvPropertiesCode: UInt32 = 0x4233_0012
  private static let escapeCode: UInt32 = 0x4200_0001
  /// SCARD_CTL_CODE(3500), which ACS's own driver uses.
  private static let vendorEscapeCode: UInt32 = 0x4200_0DAC

  let model: CardReaderModel
  let serial: String?
  /// The number of the USB bus, and of the device on it.
  var bus: UInt8
  var device: UInt8
  /// Whether the driver passes escape commands on. libccid's option for that is off by default.
  var allowsEscapes = false

  /// The value of an attribute (pcsc-lite, reader.h); nil if the reader does not have it. Numbers have the lowest byte
  /// first.
  func attribute(_ tag: UInt32) -> [UInt8]? {
    switch tag {
    // SCARD_ATTR_VENDOR_NAME.
    case 0x0001_0100: Array(model.manufacturer.utf8)
    // SCARD_ATTR_VENDOR_IFD_VERSION.
    case 0x0001_0102: Self.littleEndian(UInt32(model.version) << 16, 4)
    // SCARD_ATTR_VENDOR_IFD_SERIAL_NO.
    case 0x0001_0103: serial.map { Array($0.utf8) }
    // SCARD_ATTR_CHANNEL_ID: 0020 for USB, bus and device.
    case 0x0002_0110: Self.littleEndian(0x0020_0000 | UInt32(bus) << 8 | UInt32(device), 4)
    default: nil
    }
  }

  /// The answer to a control code.
  func control(_ code: UInt32, _ data: [UInt8]) -> DriverAnswer {
    switch code {
    case Self.featureRequest: return .success(features)
    case Self.tlvPropertiesCode: return .success(tlvProperties)
    case Self.escapeCode, Self.vendorEscapeCode:
      guard allowsEscapes else { return .failure(.communicationError) }
      return escape(data)
    default: return .failure(.notSupported)
    }
  }

  /// FEATURE_GET_TLV_PROPERTIES, and FEATURE_CCID_ESC_COMMAND if it is allowed. Control codes have the highest byte
  /// first.
  private var features: [UInt8] {
    [0x12, 0x04] + BigEndian.bytes(Self.tlvPropertiesCode)
      + (allowsEscapes ? [0x13, 0x04] + BigEndian.bytes(Self.escapeCode) : [])
  }

  /// dwMaxAPDUDataSize, wIdVendor, wIdProduct.
  private var tlvProperties: [UInt8] {
    [0x0A, 0x04] + Self.littleEndian(model.maximumAPDU, 4) + [0x0B, 0x02] + Self.littleEndian(UInt32(model.vendor), 2)
      + [0x0C, 0x02] + Self.littleEndian(UInt32(model.product), 2)
  }

  /// ACS's escape commands answer `E1 00 00 00`, a length and the parameter. The ACR122U takes its pseudo-APDUs.
  private func escape(_ data: [UInt8]) -> DriverAnswer {
    if model.hasChipPeripherals, let command = PseudoAPDU(data), command.instruction == 0x00 {
      return .success(CardReaderPeripherals.answer(to: command))
    }
    guard model.hasEscapes, data.count >= 5, data[0] == 0xE0, data.count == 5 + Int(data[4]) else {
      return .failure(.communicationError)
    }
    return .success([0xE1, 0x00, 0x00, 0x00, data[4]] + data[5...])
  }

  private static func littleEndian(_ value: UInt32, _ count: Int) -> [UInt8] {
    Array(BigEndian.bytes(value).reversed().prefix(count))
  }
}
