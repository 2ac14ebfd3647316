public import Foundation
import TagrouteClient

/// A card of ISO/IEC 14443-4 with an application that the program has declared (iOS 13).
public protocol NFCISO7816Tag: NFCNDEFTag, __NFCTag {
  /// The application that was selected when the card was found: the first declared one that it has, hexadecimal.
  var initialSelectedAID: String { get }
  /// The UID (Type A) or PUPI (Type B).
  var identifier: Data { get }
  /// Type A: the historical bytes of the answer to select (ISO/IEC 14443-4, 5.2.7); nil if there are none.
  var historicalBytes: Data? { get }
  /// Type B: the application data of the answer to request, four bytes (ISO/IEC 14443-3, 7.9.3); else nil.
  var applicationData: Data? { get }
  /// Type B: whether `applicationData` has a coding of the card's maker (ISO/IEC 14443-3, 7.9.4.4).
  var proprietaryApplicationDataCoding: Bool { get }
  /// Whether the card is known to support PACE (iOS 26.4). False if the tag does not say.
  var supportsPACE: Bool { get }

  /// Sends an APDU. The handler gets the data and the two status bytes, whatever their value.
  ///
  /// Fails with code 2 if the APDU selects an application that the program has not declared, or a payment application.
  ///
  /// - Parameters:
  ///   - apdu: the command (ISO/IEC 7816-4, 5.1).
  ///   - completionHandler: gets the data and the status bytes SW1 and SW2, or the error.
  @preconcurrency
  func sendCommand(
    apdu: NFCISO7816APDU, completionHandler: @escaping @Sendable (Data, UInt8, UInt8, (any Error)?) -> Void)
}

// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
/// The `async` form of `sendCommand`, and the one with a result (iOS 14).
extension NFCISO7816Tag {
  public var supportsPACE: Bool { false }

  public func sendCommand(apdu: NFCISO7816APDU) async throws -> (Data, UInt8, UInt8) {
    try await fromHandler { sendCommand(apdu: apdu, completionHandler: $0) }
  }

  @preconcurrency
  public func sendCommand(
    apdu: NFCISO7816APDU, resultHandler: @escaping @Sendable (Result<NFCISO7816ResponseAPDU, any Error>) -> Void
  ) {
    sendCommand(
      apdu: apdu,
      completionHandler: {
        resultHandler(outcome($3, NFCISO7816ResponseAPDU(statusWord1: $1, statusWord2: $2, paylaod: $0)))
      })
  }
}

/// A card of ISO/IEC 14443-4 with an application that the program has declared.
final class ISO7816Tag: DetectedTag, NFCISO7816Tag {
  var type: __NFCTagType { .iso7816Compatible }

  func asNFCISO7816Tag() -> (any NFCISO7816Tag)? { self }

  /// As the program has declared it; empty if none is selected.
  var initialSelectedAID: String {
    let declared = (owner as? NFCTagReaderSession)?.polling.identifiers ?? []
    return declared.first { NFCDeclarations.applications([$0]).first == tag.selectedApplication } ?? ""
  }

  var identifier: Data { Data(tag.uid) }

  var historicalBytes: Data? { tag.historicalBytes.isEmpty ? nil : Data(tag.historicalBytes) }

  var applicationData: Data? { tag.applicationData.isEmpty ? nil : Data(tag.applicationData) }

  /// Whether the application data is in the card's own coding: the ADC bits are zero (ISO/IEC 14443-3, 7.9.4.4).
  var proprietaryApplicationDataCoding: Bool { tag.protocolInfo.count > 2 && tag.protocolInfo[2] & 0x0C == 0 }

  var supportsPACE: Bool { false }

  func sendCommand(apdu: NFCISO7816APDU, completionHandler: @escaping Handler<Data, UInt8, UInt8>) {
    send(apdu, refusal: isAllowed(apdu) ? nil : .readerErrorSecurityViolation, completionHandler)
  }

  /// Whether the program has declared what a SELECT by name asks for (ISO/IEC 7816-4, 7.1.1). The daemon would also
  /// select the NDEF application. Core NFC does so only for `NFCMiFareTag`.
  private func isAllowed(_ apdu: NFCISO7816APDU) -> Bool {
    guard apdu.instructionCode == 0xA4, apdu.p1Parameter == 0x04, let name = apdu.data, !name.isEmpty,
      let session = owner as? NFCTagReaderSession
    else { return true }
    return session.polling.applications?.contains(Array(name)) == true
  }
}
