import Foundation
import Names
import TagrouteClient

/// A MIFARE Ultralight or NTAG, or a DESFire or Plus of which no application was declared.
final class MiFareTag: DetectedTag, NFCMiFareTag {
  var type: __NFCTagType { .miFare }

  func asNFCMiFareTag() -> (any NFCMiFareTag)? { self }

  var mifareFamily: NFCMiFareFamily { tag.mifareFamily }

  var identifier: Data { Data(tag.uid) }

  var historicalBytes: Data? { tag.historicalBytes.isEmpty ? nil : Data(tag.historicalBytes) }

  func sendMiFareCommand(
    commandPacket command: Data, completionHandler: @escaping @Sendable (Data, (any Error)?) -> Void
  ) {
    let isISODEP = tag.technology != TagType.type2.rawValue
    let exchange = TagExchange(command: Array(command), timeout: isISODEP ? .seconds(5) : .seconds(1)) { Data($0) }
    start({ exchange }, or: Data(), completionHandler)
  }

  func sendMiFareISO7816Command(
    _ apdu: NFCISO7816APDU, completionHandler: @escaping @Sendable (Data, UInt8, UInt8, (any Error)?) -> Void
  ) {
    // Such a tag would take the APDU for a command of its own, which may write.
    guard tag.technology != TagType.type2.rawValue else {
      return refuse(.readerErrorUnsupportedFeature) { (result: Result<Void, any Error>) in
        completionHandler(Data(), 0, 0, result.errorOrNil)
      }
    }
    send(apdu, completionHandler)
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
