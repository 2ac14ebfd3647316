import CoreNFC

// Classes that conform to the tag protocols on their own, as in the tests of apps.

class FakeTag: NSObject, NFCNDEFTag, __NFCTag {
  var message: NFCNDEFMessage?
  var isLocked = false

  override init() {}
  required init?(coder: NSCoder) { nil }

  func encode(with coder: NSCoder) {}
  class var supportsSecureCoding: Bool { true }
  func copy(with zone: NSZone? = nil) -> Any { self }

  var type: __NFCTagType { .miFare }
  var session: (any NFCReaderSessionProtocol)? { nil }
  var isAvailable: Bool { true }
  func asNFCISO15693Tag() -> (any NFCISO15693Tag)? { nil }
  func asNFCISO7816Tag() -> (any NFCISO7816Tag)? { nil }
  func asNFCFeliCaTag() -> (any NFCFeliCaTag)? { nil }
  func asNFCMiFareTag() -> (any NFCMiFareTag)? { nil }

  func queryNDEFStatus(completionHandler: @escaping @Sendable (NFCNDEFStatus, Int, (any Error)?) -> Void) {
    completionHandler(isLocked ? .readOnly : .readWrite, 137, nil)
  }
  func readNDEF(completionHandler: @escaping @Sendable (NFCNDEFMessage?, (any Error)?) -> Void) {
    completionHandler(message, message == nil ? NFCReaderError(.ndefReaderSessionErrorZeroLengthMessage) : nil)
  }
  func writeNDEF(_ ndefMessage: NFCNDEFMessage, completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
    message = ndefMessage
    completionHandler(nil)
  }
  func writeLock(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
    isLocked = true
    completionHandler(nil)
  }
}

final class FakeISO7816Tag: FakeTag, NFCISO7816Tag {
  override var type: __NFCTagType { .iso7816Compatible }
  override func asNFCISO7816Tag() -> (any NFCISO7816Tag)? { self }

  let initialSelectedAID = "A0000002471001"
  let identifier = Data([4, 1, 2, 3])
  let historicalBytes: Data? = Data([0x80])
  let applicationData: Data? = nil
  let proprietaryApplicationDataCoding = false
  let supportsPACE = false

  func sendCommand(
    apdu: NFCISO7816APDU, completionHandler: @escaping @Sendable (Data, UInt8, UInt8, (any Error)?) -> Void
  ) {
    completionHandler(apdu.data ?? Data(), 0x90, apdu.instructionCode, nil)
  }
}

final class FakeMiFareTag: FakeTag, NFCMiFareTag {
  override func asNFCMiFareTag() -> (any NFCMiFareTag)? { self }

  let mifareFamily = NFCMiFareFamily.ultralight
  let identifier = Data([4, 1, 2, 3, 4, 5, 6])
  let historicalBytes: Data? = nil

  func sendMiFareCommand(
    commandPacket command: Data, completionHandler: @escaping @Sendable (Data, (any Error)?) -> Void
  ) {
    completionHandler(command, nil)
  }
  func sendMiFareISO7816Command(
    _ apdu: NFCISO7816APDU, completionHandler: @escaping @Sendable (Data, UInt8, UInt8, (any Error)?) -> Void
  ) {
    completionHandler(Data(), 0x6D, 0x00, NFCReaderError(.readerTransceiveErrorTagResponseError))
  }
}
