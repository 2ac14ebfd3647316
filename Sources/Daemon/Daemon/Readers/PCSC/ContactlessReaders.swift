import Names
import ReaderModels
import ReaderProtocol

/// Which of the readers that pcscd can drive have an antenna. The others belong to contact cards and security keys, and
/// Tagroute leaves them alone.
enum ContactlessReaders {
  /// The interface class of smart card readers (USB CCID 1.1, 4.3) and that of keyboards and security keys (HID 1.11, 4.1).
  private static let (smartCard, humanInterface): (UInt8, UInt8) = (0x0B, 0x03)
  /// Words for a slot that has no antenna, in a name that says nothing else.
  private static let otherSlots: Set<String> = ["SAM", "ICC", "SIM", "CONTACT"]
  /// The most bytes of a title: it is a part of a reason.
  private static let mostBytesOfTitle = 60

  /// Whether a USB device is a contactless reader that pcscd drives, if it has a driver. `driverName` is the name that
  /// the driver has for the device; nil if no installed driver knows it.
  static func isReader(_ usb: Device.USB, driverName: String?) -> Bool {
    // A model that is newer than all tables shows what it is. A security key with NFC has a keyboard's interface, too.
    let isSmartCardReader =
      usb.interfaceClasses.contains(smartCard) && !usb.interfaceClasses.contains(humanInterface)
    let name = driverName ?? (isSmartCardReader ? usb.productName : nil)
    return ReaderModel.isContactlessDevice(
      vendor: usb.vendor, product: usb.product, names: [name].compactMap(\.self))
  }

  /// Whether a device may be a reader, so that it is worth reading the tables of pcscd's drivers.
  static func mayBeReader(_ usb: Device.USB) -> Bool {
    usb.interfaceClasses.contains(smartCard) || ReaderModel.find(vendor: usb.vendor, product: usb.product) != nil
      || USBReaderModel.all.contains { $0.vendor == usb.vendor && $0.product == usb.product }
  }

  /// Whether a reader of pcscd's list reads contactless cards. `all` is the list: a device with several slots is in it
  /// several times.
  static func isUsable(_ reader: PCSCReader, among all: [PCSCReader]) -> Bool {
    if ReaderModel.isContactlessName(reader.name) { return true }
    // The name says nothing, but this is the only slot of a known model.
    guard let identity = reader.identity,
      ReaderModel.find(vendor: identity.vendor, product: identity.product)?.slots == .single
    else { return false }
    let words = reader.name.uppercased().split { !$0.isLetter }.map(String.init)
    return otherSlots.isDisjoint(with: words) && !all.contains { $0 != reader && isSameDevice($0, reader) }
  }

  /// The name of a device in a sentence.
  static func title(of usb: Device.USB, driverName: String?) -> String {
    let model = ReaderModel.find(vendor: usb.vendor, product: usb.product)?.title
    let names = [model, driverName, usb.productName].compactMap(\.self)
    return names.first { (1...mostBytesOfTitle).contains($0.utf8.count) } ?? "this reader"
  }

  /// The kinds of tags that a reader with this device string can read. A reader of pcscd has the model of its numbers,
  /// else that of its name, as for its own process. Of a model that is not known, all are tried.
  static func technologies(of device: String, _ identity: PCSCReader.Identity? = nil) -> [TagType] {
    // The chips that libnfc drives have no modulation for ISO/IEC 15693.
    guard let name = Names.PCSC.readerName(inDevice: device) else { return TagType.readable.filter { $0 != .type5 } }
    let model = identity.flatMap { ReaderModel.find(vendor: $0.vendor, product: $0.product) }
    return (model ?? ReaderModel.find(readerName: name))?.types ?? TagType.readable
  }

  private static func isSameDevice(_ a: PCSCReader, _ b: PCSCReader) -> Bool {
    if let place = a.place, b.place != nil { return place == b.place }
    return a.identity != nil && a.identity == b.identity
  }
}
