public import Foundation

/// A command for a card (ISO/IEC 7816-4, 5.1; iOS 13). It cannot be changed.
open class NFCISO7816APDU: NSObject, NSCopying {
  private let command: CommandAPDU

  /// The class byte, CLA.
  open var instructionClass: UInt8 { command.instructionClass }
  /// The instruction byte, INS.
  open var instructionCode: UInt8 { command.instructionCode }
  /// The first parameter byte, P1.
  open var p1Parameter: UInt8 { command.p1 }
  /// The second parameter byte, P2.
  open var p2Parameter: UInt8 { command.p2 }
  /// The data; nil if a decoded command has none.
  open private(set) var data: Data?
  /// How many bytes of data are expected at most, Le; -1 for none.
  open var expectedResponseLength: Int { command.expectedLength }

  /// Makes a command.
  ///
  /// The lengths have one byte. They have the extended form if there are more than 255 bytes of data, or if more than
  /// 256 bytes are expected. At most 65,535 bytes of data can be sent, and 65,536 expected. The call of a longer
  /// command fails with code 3.
  ///
  /// - Parameters:
  ///   - instructionClass: the class byte, CLA.
  ///   - instructionCode: the instruction byte, INS.
  ///   - p1Parameter: the first parameter byte, P1.
  ///   - p2Parameter: the second parameter byte, P2.
  ///   - data: the data; empty for none.
  ///   - expectedResponseLength: how many bytes of data are expected at most, 1 to 65,536. 256 sends the byte `00`, and
  ///     65,536 the bytes `0000`. A negative number sends no length, so that no data is expected. 0 sends zeros: the
  ///     card answers as much as it has.
  public init(
    instructionClass: UInt8, instructionCode: UInt8, p1Parameter: UInt8, p2Parameter: UInt8, data: Data,
    expectedResponseLength: Int
  ) {
    command = CommandAPDU(
      instructionClass: instructionClass, instructionCode: instructionCode, p1: p1Parameter, p2: p2Parameter,
      data: Array(data), expectedLength: expectedResponseLength)
    self.data = data
    super.init()
  }

  /// Decodes a command. It is sent with the same bytes, also if these have an extended form that is not needed.
  ///
  /// - Parameter data: exactly one command. Nil is returned for anything else: fewer than 4 bytes, or a length that
  ///   does not agree with the bytes after it.
  public init?(data: Data) {
    guard let command = CommandAPDU(decoding: Array(data)) else { return nil }
    self.command = command
    self.data = command.data.isEmpty ? nil : Data(command.data)
    super.init()
  }

  /// The same object, since it cannot be changed.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// The bytes for the card; empty if the command cannot be sent.
  var encoded: [UInt8] { command.bytes ?? [] }
}
