import CoreNFC

// What sources of Swift 6 do: enumerations cross between actors, and a delegate belongs to the main actor.

func requireSendable<Value: Sendable>(_ type: Value.Type) {}

func useSendableTypes() {
  requireSendable(NFCTagReaderSession.PollingOption.self)
  requireSendable(NFCTagReaderSession.Configuration.self)
  requireSendable(NFCISO15693RequestFlag.self)
  requireSendable(NFCISO15693ResponseFlag.self)
  requireSendable(NFCTypeNameFormat.self)
  requireSendable(NFCNDEFStatus.self)
  requireSendable(NFCMiFareFamily.self)
  requireSendable(NFCFeliCaPollingRequestCode.self)
  requireSendable(NFCFeliCaPollingTimeSlot.self)
  requireSendable(NFCFeliCaEncryptionId.self)
  requireSendable(NFCVASCommandConfiguration.Mode.self)
  requireSendable(NFCVASResponse.ErrorCode.self)
  requireSendable(NFCReaderError.self)
  requireSendable(NFCReaderError.Code.self)
  requireSendable(NFCISO7816ResponseAPDU.self)
  requireSendable(NFCFeliCaStatusFlag.self)
  requireSendable(NFCFeliCaPollingResponse.self)
  requireSendable(NFCISO15693SystemInfo.self)
}

/// Conforms on the main actor. Its sessions have the main queue.
@MainActor final class MainActorTagDelegate: NSObject, @MainActor NFCTagReaderSessionDelegate {
  private(set) var identifiers: [Data] = []
  private var session: NFCTagReaderSession?

  func scan() {
    let configuration = NFCTagReaderSession.Configuration(pollingOption: .iso14443)
    let session = NFCTagReaderSession(configuration: configuration, delegate: self, queue: .main)
    session.begin()
    self.session = session
  }

  func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession) {}
  func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: any Error) { self.session = nil }
  func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {
    guard let tag = tags.first, case .miFare(let ultralight) = tag else { return session.restartPolling() }
    Task {
      do {
        try await session.connect(to: tag)
        let pages = try await ultralight.sendMiFareCommand(commandPacket: Data([0x30, 0]))
        identifiers.append(pages.prefix(7))
        session.invalidate()
      } catch {
        session.invalidate(errorMessage: error.localizedDescription)
      }
    }
  }
}

/// The same, with the optional methods left out.
@MainActor final class MainActorMessageDelegate: NSObject, @MainActor NFCNDEFReaderSessionDelegate {
  private(set) var count = 0

  func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {}
  func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {
    count += messages.count
  }
}

/// A delegate that belongs to no actor hands values over, not tags.
final class StreamingDelegate: NSObject, NFCNDEFReaderSessionDelegate {
  private let continuation: AsyncThrowingStream<[Data], any Error>.Continuation

  init(_ continuation: AsyncThrowingStream<[Data], any Error>.Continuation) {
    self.continuation = continuation
  }

  func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
    continuation.finish(throwing: error)
  }
  func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {
    continuation.yield(messages.flatMap { $0.records.map(\.payload) })
  }
}

/// A handler takes Sendable values along.
func useHandlers(_ tag: any NFCNDEFTag, _ queue: DispatchQueue) {
  let (statuses, continuation) = AsyncStream.makeStream(of: NFCNDEFStatus.self)
  _ = statuses
  tag.queryNDEFStatus { status, _, error in
    if error == nil { continuation.yield(status) }
    queue.async { continuation.finish() }
  }
}

func useFirstTag(_ tags: [any NFCNDEFTag], in session: NFCNDEFReaderSession) async -> NFCNDEFMessage? {
  guard let tag = tags.first else { return nil }
  do {
    try await session.connect(to: tag)
    guard case (.readWrite, let capacity) = try await tag.queryNDEFStatus(), capacity > 0 else { return nil }
    return try await tag.readNDEF()
  } catch NFCReaderError.ndefReaderSessionErrorZeroLengthMessage {
    return NFCNDEFMessage(records: [])
  } catch {
    session.invalidate(errorMessage: error.localizedDescription)
    return nil
  }
}
