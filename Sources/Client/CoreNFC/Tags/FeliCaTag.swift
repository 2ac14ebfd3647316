import EventLoop
import Foundation
import TagrouteClient

/// A FeliCa card with a system that the program has declared.
///
/// A command goes to the system that is selected when the command is called. So wait for Polling before the next one.
final class FeliCaTag: DetectedTag, NFCFeliCaTag {
  private let selection = FeliCaSelection()

  var type: __NFCTagType { .feliCa }

  var currentSystemCode: Data {
    if let selected = selection.current { return selected.systemCode }
    return tag.systemCode.map { Data([UInt8($0 >> 8), UInt8($0 & 0xFF)]) } ?? Data()
  }

  var currentIDm: Data { selection.current?.idm ?? Data(tag.idm) }

  func polling(
    systemCode: Data, requestCode: NFCFeliCaPollingRequestCode, timeSlot: NFCFeliCaPollingTimeSlot,
    completionHandler: @escaping @Sendable (Data, Data, (any Error)?) -> Void
  ) {
    let (selection, former) = (self.selection, currentSystemCode)
    start {
      let exchange = try FeliCaExchanges.polling(systemCode: systemCode, requestCode: requestCode, timeSlot: timeSlot)
      guard isDeclared(systemCode) else { throw NFCReaderError(.readerErrorSecurityViolation) }
      return exchange
    } _: { (result: Result<FeliCaExchanges.Polled, any Error>) in
      switch result {
      case .success(let polled):
        selection.current = (Data(polled.idm), systemCode)
        completionHandler(Data(polled.pmm), Data(polled.requestData), nil)
      case .failure(let error):
        // The card did not answer. Other errors leave the selection as it is.
        if (error as? NFCReaderError)?.code == .readerTransceiveErrorTagResponseError {
          selection.current = (Data(), former)
        }
        completionHandler(Data(), Data(), error)
      }
    }
  }

  /// Whether the session looks for this system. The daemon would also accept the NDEF system, which Core NFC does not.
  private func isDeclared(_ systemCode: Data) -> Bool {
    // Without a session, the call fails with code 103.
    guard let owner = owner as? NFCTagReaderSession else { return true }
    return owner.polling.systems.contains(systemCode.reduce(0) { $0 << 8 | UInt16($1) })
  }

  func requestService(nodeCodeList: [Data], completionHandler: @escaping @Sendable ([Data], (any Error)?) -> Void) {
    start({ try selected().requestService(nodeCodeList) }, or: [], completionHandler)
  }

  func requestResponse(completionHandler: @escaping @Sendable (Int, (any Error)?) -> Void) {
    start({ try selected().requestResponse() }, or: 0, completionHandler)
  }

  func readWithoutEncryption(
    serviceCodeList: [Data], blockList: [Data],
    completionHandler: @escaping @Sendable (Int, Int, [Data], (any Error)?) -> Void
  ) {
    start({ try selected().readWithoutEncryption(serviceCodeList, blockList) }, or: (0, 0, [])) {
      completionHandler($0.0, $0.1, $0.2, $1)
    }
  }

  func writeWithoutEncryption(
    serviceCodeList: [Data], blockList: [Data], blockData: [Data],
    completionHandler: @escaping @Sendable (Int, Int, (any Error)?) -> Void
  ) {
    start({ try selected().writeWithoutEncryption(serviceCodeList, blockList, blockData) }, or: (0, 0)) {
      completionHandler($0.0, $0.1, $1)
    }
  }

  func requestSystemCode(completionHandler: @escaping @Sendable ([Data], (any Error)?) -> Void) {
    start({ try selected().requestSystemCode() }, or: [], completionHandler)
  }

  func requestServiceV2(
    nodeCodeList: [Data],
    completionHandler: @escaping @Sendable (Int, Int, NFCFeliCaEncryptionId, [Data], [Data], (any Error)?) -> Void
  ) {
    start({ try selected().requestServiceV2(nodeCodeList) }, or: (0, 0, .AES, [], [])) {
      completionHandler($0.0, $0.1, $0.2, $0.3, $0.4, $1)
    }
  }

  func requestSpecificationVersion(
    completionHandler: @escaping @Sendable (Int, Int, Data, Data, (any Error)?) -> Void
  ) {
    start({ try selected().requestSpecificationVersion() }, or: (0, 0, Data(), Data())) {
      completionHandler($0.0, $0.1, $0.2, $0.3, $1)
    }
  }

  func resetMode(completionHandler: @escaping @Sendable (Int, Int, (any Error)?) -> Void) {
    start({ try selected().resetMode() }, or: (0, 0)) { completionHandler($0.0, $0.1, $1) }
  }

  func sendFeliCaCommand(commandPacket: Data, completionHandler: @escaping @Sendable (Data, (any Error)?) -> Void) {
    start({ try FeliCaExchanges.command(commandPacket) }, or: Data(), completionHandler)
  }

  /// The commands to the selected system. Throws code 102 if the card did not answer the last Polling.
  private func selected() throws(NFCReaderError) -> FeliCaExchanges {
    let idm = currentIDm
    guard !idm.isEmpty else { throw NFCReaderError.wrongAnswer }
    return FeliCaExchanges(idm: Array(idm))
  }
}

/// What Polling has selected. It is renewed on the session's queue, and read by the program anywhere.
private final class FeliCaSelection: Sendable {
  private let selected = Locked<(idm: Data, systemCode: Data)?>(nil)

  /// Nil before the first Polling of the program's own. The IDm is empty if the card did not answer the last one.
  var current: (idm: Data, systemCode: Data)? {
    get { selected.withLock { $0 } }
    set { selected.withLock { $0 = newValue } }
  }
}
