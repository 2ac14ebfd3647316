/// The USB readers that libnfc 1.8.0 drives.
///
/// They are in the tables of its drivers (`pn53x_usb_supported_devices` in pn53x_usb.c, `acr122_usb_supported_devices` in
/// acr122_usb.c). Its other drivers do not search USB for readers. Sony's RC-S360 (054C:02E1) is in them as well, but
/// answers SetParameters with an error frame, and `nfc_open` then fails (nfc-tools/libnfc#278, #546).
struct USBReaderModel: Hashable, Sendable {
  let driver: String
  let vendor: UInt16
  let product: UInt16

  static let all = [
    USBReaderModel(driver: "pn53x_usb", vendor: 0x04CC, product: 0x0531),  // Philips PN531
    USBReaderModel(driver: "pn53x_usb", vendor: 0x04CC, product: 0x2533),  // NXP PN533
    USBReaderModel(driver: "pn53x_usb", vendor: 0x04E6, product: 0x5591),  // SCM SCL3711
    USBReaderModel(driver: "pn53x_usb", vendor: 0x04E6, product: 0x5594),  // SCM SCL3712
    USBReaderModel(driver: "pn53x_usb", vendor: 0x054C, product: 0x0193),  // Sony PN531
    USBReaderModel(driver: "pn53x_usb", vendor: 0x1FD3, product: 0x0608),  // ASK LoGO
    USBReaderModel(driver: "acr122_usb", vendor: 0x072F, product: 0x2200),  // ACS ACR122U
    USBReaderModel(driver: "acr122_usb", vendor: 0x072F, product: 0x90CC),  // Touchatag
    USBReaderModel(driver: "acr122_usb", vendor: 0x072F, product: 0x2214),  // ACS ACR1222
  ]

  static let drivers = Set(all.map(\.driver))

  /// For example `acr122_usb:001:004`; nil if the device is not a reader.
  static func connectionString(of device: Device) -> String? {
    guard let usb = device.usb, let model = all.first(where: { $0.vendor == usb.vendor && $0.product == usb.product })
    else { return nil }
    return "\(model.driver):\(place(of: usb))"
  }

  /// For a reader that neither libnfc nor pcscd drives: `usb:001:004`.
  static func undrivenDevice(_ usb: Device.USB) -> String { "usb:\(place(of: usb))" }

  private static func place(of usb: Device.USB) -> String { "\(threeDigits(usb.bus)):\(threeDigits(usb.number))" }

  /// As in the folder and file names below /dev/bus/usb.
  private static func threeDigits(_ number: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, 3 - digits.count)) + digits
  }
}
