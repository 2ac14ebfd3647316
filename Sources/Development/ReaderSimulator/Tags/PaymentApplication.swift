/// The proximity payment system environment of a bank card (EMV Contactless, book B, 3.3). It lists the payment
/// applications of the card, and is the only application that can be selected.
struct PaymentApplication: CardApplication {
  private static let environment = Array("2PAY.SYS.DDF01".utf8)
  private static let applicationName: [UInt8] = [0xA0, 0x00, 0x00, 0x00, 0x03, 0x10, 0x10]

  private static let directory: [UInt8] = {
    let entry = object([0x61], object([0x4F], applicationName) + object([0x87], [0x01]))
    return object([0x6F], object([0x84], environment) + object([0xA5], object([0xBF, 0x0C], entry)))
  }()

  var memory: [UInt8] { [] }
  var writeTear: WriteTear?

  mutating func deselect() {}

  mutating func respond(to bytes: [UInt8]) -> [UInt8] {
    guard let command = CommandAPDU(bytes) else { return [0x67, 0x00] }
    guard command.instructionClass == 0x00 else { return [0x6E, 0x00] }
    guard command.instruction == 0xA4 else { return [0x6D, 0x00] }
    return command.data == Self.environment ? Self.directory + [0x90, 0x00] : [0x6A, 0x82]
  }

  // A BER-TLV data object of fewer than 128 bytes.
  private static func object(_ tag: [UInt8], _ value: [UInt8]) -> [UInt8] {
    tag + [UInt8(truncatingIfNeeded: value.count)] + value
  }
}
