import CoreNFC
import Foundation

/// A program's own tag. It conforms to `NFCNDEFTag` with the requirements alone, and answers inside the call.
class MockTag: NSObject, NFCNDEFTag {
  /// The error of every call; nil if they succeed.
  var error: (any Error)?
  /// The calls so far, by name.
  var calls: [String] = []
  var written: NFCNDEFMessage?

  override init() { super.init() }

  required init?(coder: NSCoder) { nil }

  func encode(with coder: NSCoder) {}

  class var supportsSecureCoding: Bool { true }

  func copy(with zone: NSZone? = nil) -> Any { self }

  var isAvailable: Bool { true }

  var session: (any NFCReaderSessionProtocol)? { nil }

  func queryNDEFStatus(completionHandler: @escaping @Sendable (NFCNDEFStatus, Int, (any Error)?) -> Void) {
    completionHandler(.readWrite, 137, error)
  }

  func readNDEF(completionHandler: @escaping @Sendable (NFCNDEFMessage?, (any Error)?) -> Void) {
    completionHandler(written, error)
  }

  func writeNDEF(_ ndefMessage: NFCNDEFMessage, completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
    written = ndefMessage
    completionHandler(error)
  }

  func writeLock(completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
    calls.append("writeLock")
    completionHandler(error)
  }
}

final class MockISO7816Tag: MockTag, NFCISO7816Tag {
  var type: __NFCTagType { .iso7816Compatible }
  var initialSelectedAID: String { "D2760000850101" }
  var identifier: Data { Data([4, 1, 2, 3]) }
  var historicalBytes: Data? { nil }
  var applicationData: Data? { nil }
  var proprietaryApplicationDataCoding: Bool { false }

  func sendCommand(
    apdu: NFCISO7816APDU, completionHandler: @escaping @Sendable (Data, UInt8, UInt8, (any Error)?) -> Void
  ) {
    completionHandler(Data([apdu.instructionCode]), 0x90, 0x01, error)
  }
}

final class MockMiFareTag: MockTag, NFCMiFareTag {
  var type: __NFCTagType { .miFare }
  var mifareFamily: NFCMiFareFamily { .ultralight }
  var identifier: Data { Data([4, 1, 2, 3, 4, 5, 6]) }
  var historicalBytes: Data? { nil }

  func sendMiFareCommand(
    commandPacket command: Data, completionHandler: @escaping @Sendable (Data, (any Error)?) -> Void
  ) {
    completionHandler(command, error)
  }

  func sendMiFareISO7816Command(
    _ apdu: NFCISO7816APDU, completionHandler: @escaping @Sendable (Data, UInt8, UInt8, (any Error)?) -> Void
  ) {
    completionHandler(Data([apdu.instructionCode]), 0x6A, 0x82, error)
  }
}

final class MockFeliCaTag: MockTag, NFCFeliCaTag {
  var type: __NFCTagType { .feliCa }
  var currentSystemCode: Data { Data([0x00, 0x03]) }
  var currentIDm: Data { Data([1, 2, 3, 4, 5, 6, 7, 8]) }
  /// What Polling and the commands of version 2 send besides what every card has.
  var extra = Data()
  /// Replaces the answer to Request Response.
  var onRequestResponse: (@escaping @Sendable (Int, (any Error)?) -> Void) -> Void = { $0(2, nil) }

  func polling(
    systemCode: Data, requestCode: NFCFeliCaPollingRequestCode, timeSlot: NFCFeliCaPollingTimeSlot,
    completionHandler: @escaping @Sendable (Data, Data, (any Error)?) -> Void
  ) {
    completionHandler(systemCode, extra, error)
  }

  func requestService(nodeCodeList: [Data], completionHandler: @escaping @Sendable ([Data], (any Error)?) -> Void) {
    completionHandler(nodeCodeList, error)
  }

  func requestResponse(completionHandler: @escaping @Sendable (Int, (any Error)?) -> Void) {
    onRequestResponse(completionHandler)
  }

  func readWithoutEncryption(
    serviceCodeList: [Data], blockList: [Data],
    completionHandler: @escaping @Sendable (Int, Int, [Data], (any Error)?) -> Void
  ) {
    completionHandler(1, 0xA6, serviceCodeList + blockList, error)
  }

  func writeWithoutEncryption(
    serviceCodeList: [Data], blockList: [Data], blockData: [Data],
    completionHandler: @escaping @Sendable (Int, Int, (any Error)?) -> Void
  ) {
    completionHandler(0, blockData.count, error)
  }

  func requestSystemCode(completionHandler: @escaping @Sendable ([Data], (any Error)?) -> Void) {
    completionHandler([currentSystemCode], error)
  }

  func requestServiceV2(
    nodeCodeList: [Data],
    completionHandler: @escaping @Sendable (Int, Int, NFCFeliCaEncryptionId, [Data], [Data], (any Error)?) -> Void
  ) {
    completionHandler(0, 1, .AES_DES, nodeCodeList, extra.isEmpty ? [] : [extra], error)
  }

  func requestSpecificationVersion(
    completionHandler: @escaping @Sendable (Int, Int, Data, Data, (any Error)?) -> Void
  ) {
    completionHandler(0, 1, Data([0x00, 0x04]), extra, error)
  }

  func resetMode(completionHandler: @escaping @Sendable (Int, Int, (any Error)?) -> Void) {
    completionHandler(0, 1, error)
  }

  func sendFeliCaCommand(commandPacket: Data, completionHandler: @escaping @Sendable (Data, (any Error)?) -> Void) {
    completionHandler(commandPacket, error)
  }
}
