public import Foundation
import Names
import TagrouteClient

/// A MIFARE Ultralight or NTAG, or a DESFire or Plus without a declared application (iOS 13).
public protocol NFCMiFareTag: NFCNDEFTag, __NFCTag {
  /// The product family.
  var mifareFamily: NFCMiFareFamily { get }
  /// The UID.
  var identifier: Data { get }
  /// The historical bytes of the answer to select (ISO/IEC 14443-4, 5.2.7); nil if there are none.
  var historicalBytes: Data? { get }

  /// Sends a native command of the tag's data sheet, without a checksum.
  ///
  /// An acknowledgement of four bits is returned as the byte 0A. A refusal is an error with code 102.
  ///
  /// - Parameters:
  ///   - command: the command.
  ///   - completionHandler: gets the tag's answer without its checksum, or the error.
  @preconcurrency
  func sendMiFareCommand(
    commandPacket command: Data, completionHandler: @escaping @Sendable (Data, (any Error)?) -> Void)

  /// Sends an APDU to a card of ISO/IEC 14443-4. The handler gets the data and the two status bytes.
  @preconcurrency
  func sendMiFareISO7816Command(
    _ apdu: NFCISO7816APDU, completionHandler: @escaping @Sendable (Data, UInt8, UInt8, (any Error)?) -> Void)
}

// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
/// The `async` forms, and those with a result (iOS 14).
extension NFCMiFareTag {
  public func sendMiFareCommand(commandPacket command: Data) async throws -> Data {
    try await fromHandler { sendMiFareCommand(commandPacket: command, completionHandler: $0) }
  }

  public func sendMiFareISO7816Command(_ apdu: NFCISO7816APDU) async throws -> (Data, UInt8, UInt8) {
    try await fromHandler { sendMiFareISO7816Command(apdu, completionHandler: $0) }
  }

  @preconcurrency
  public func sendMiFareCommand(
    commandPacket command: Data, resultHandler: @escaping @Sendable (Result<Data, any Error>) -> Void
  ) {
    sendMiFareCommand(commandPacket: command, completionHandler: { resultHandler(outcome($1, $0)) })
  }

  @preconcurrency
  public func sendMiFareISO7816Command(
    _ apdu: NFCISO7816APDU, resultHandler: @escaping @Sendable (Result<NFCISO7816ResponseAPDU, any Error>) -> Void
  ) {
    sendMiFareISO7816Command(
      apdu,
      completionHandler: {
        resultHandler(outcome($3, NFCISO7816ResponseAPDU(statusWord1: $1, statusWord2: $2, paylaod: $0)))
      })
  }
}

/// The product family of a MIFARE tag (iOS 13).
public enum NFCMiFareFamily: UInt, Sendable {
  /// A tag of ISO/IEC 14443 A that is no known product.
  case unknown = 1
  /// MIFARE Ultralight, also NTAG.
  case ultralight = 2
  /// MIFARE Plus.
  case plus = 3
  /// MIFARE DESFire.
  case desfire = 4
}

/// A MIFARE Ultralight or NTAG, or a DESFire or Plus of which no application was declared.
final class MiFareTag: DetectedTag, NFCMiFareTag {
  var type: __NFCTagType { .miFare }

  func asNFCMiFareTag() -> (any NFCMiFareTag)? { self }

  var mifareFamily: NFCMiFareFamily { tag.mifareFamily }

  var identifier: Data { Data(tag.uid) }

  var historicalBytes: Data? { tag.historicalBytes.isEmpty ? nil : Data(tag.historicalBytes) }

  private var isType2: Bool { tag.technology == TagType.type2.rawValue }

  func sendMiFareCommand(commandPacket command: Data, completionHandler: @escaping Handler<Data>) {
    let exchange = TagExchange(command: Array(command), timeout: .seconds(isType2 ? 1 : 5)) { Data($0) }
    start({ exchange }, or: Data(), completionHandler)
  }

  func sendMiFareISO7816Command(_ apdu: NFCISO7816APDU, completionHandler: @escaping Handler<Data, UInt8, UInt8>) {
    // A Type 2 tag would take the APDU for a command of its own, which may write.
    send(apdu, refusal: isType2 ? .readerErrorUnsupportedFeature : nil, completionHandler)
  }
}

extension ReaderTag {
  /// The product family of a tag of ISO/IEC 14443 A.
  var mifareFamily: NFCMiFareFamily { NFCMiFareFamily(technology, historicalBytes) }
}

extension NFCMiFareFamily {
  /// The family of a tag with this technology and these historical bytes.
  init(_ technology: String, _ historicalBytes: [UInt8]) {
    switch TagType(rawValue: technology) {
    case .type2: self = .ultralight
    case .type4A:
      switch MIFAREProduct(historicalBytes: historicalBytes) {
      case .desfire: self = .desfire
      case .plus: self = .plus
      case nil: self = .unknown
      }
    default: self = .unknown
    }
  }
}
