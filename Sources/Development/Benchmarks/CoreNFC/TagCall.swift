import ReaderSimulator
import TagrouteClient

/// A call to a tag that Core NFC and TagrouteClient both have.
enum TagCall: CaseIterable, Sendable {
  /// Reads a message of 37 bytes from an NTAG215.
  case message
  /// READ of four pages of an NTAG215, as a raw command.
  case pages
  /// SELECT of the NDEF application of a Type 4A card. Its answer does not depend on the commands before.
  case selection

  /// The name in the tables.
  var name: String {
    switch self {
    case .message: "readNDEF, NTAG215, 37 bytes"
    case .pages: "sendMiFareCommand, READ of an NTAG215"
    case .selection: "sendCommand, SELECT on a Type 4A card"
    }
  }

  /// READ from page 4 (NTAG213/215/216 data sheet, 10.2).
  static let read: [UInt8] = [0x30, 0x04]
  /// The NDEF application (Type 4 Tag Technical Specification).
  static let application: [UInt8] = [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01]
  /// SELECT of that application by its name (ISO/IEC 7816-4, 11.2.2).
  static let select: [UInt8] = [0x00, 0xA4, 0x04, 0x00, UInt8(application.count)] + application + [0x00]

  /// What a session of Core NFC for this call asks the daemon for. With the same options, the reader looks for the same
  /// tags in a session of TagrouteClient.
  var options: ReaderSessionOptions {
    switch self {
    case .message:
      ReaderSessionOptions(
        access: .write, technologies: ["type-1", "type-2", "type-3", "type-4a", "type-4b", "type-5"])
    case .pages, .selection:
      ReaderSessionOptions(
        access: .write, technologies: ["type-2", "type-4a", "type-4b"], applicationIdentifiers: [Self.application],
        reportsUndeclaredCards: true)
    }
  }

  /// A new tag for this call.
  func makeTag() throws -> SimulatedTag {
    let message = try TagKind.message(size: 37)
    return switch self {
    case .message, .pages: try .type2(.ntag215, message: message)
    case .selection: try .type4(message: message)
    }
  }
}
