import Foundation
import TagrouteClient

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

  func sendCommand(
    apdu: NFCISO7816APDU, completionHandler: @escaping @Sendable (Data, UInt8, UInt8, (any Error)?) -> Void
  ) {
    guard isAllowed(apdu) else {
      return refuse(.readerErrorSecurityViolation) { (result: Result<Void, any Error>) in
        completionHandler(Data(), 0, 0, result.errorOrNil)
      }
    }
    send(apdu, completionHandler)
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
