import Bus
import TestKit
import Testing

@testable import CoreNFC

/// A bus with a stand-in for the daemon, for sessions of this process.
struct Place {
  let bus: PrivateBus
  let daemon: ReaderSessionStandIn

  init(starter: String = #function) async throws {
    bus = try await PrivateBus.start(starter: starter)
    daemon = try await ReaderSessionStandIn(on: bus.address)
  }

  /// Lets a session use this bus, and begins it.
  func begin(_ session: NFCReaderSession) {
    session.bus = BusAddress(bus.address)
    session.begin()
  }

  /// Waits until the session of the client is invalidated.
  func requests() async -> [ReaderSessionStandIn.Request] {
    var requests: [ReaderSessionStandIn.Request] = []
    for await request in daemon.requests {
      requests.append(request)
      if case .invalidate = request { break }
    }
    return requests
  }
}

enum Callback {
  case active
  case messages([NFCNDEFMessage])
  case ndefTags([any NFCNDEFTag])
  case tags([NFCTag])
  case ended(NFCReaderError.Code)

  var name: String {
    switch self {
    case .active: "active"
    case .messages(let messages): "messages \(messages.count)"
    case .ndefTags(let tags): "tags \(tags.count)"
    case .tags(let tags): "tags \(tags.count)"
    case .ended(let code): "ended \(code.rawValue)"
    }
  }
}

/// Keeps the callbacks of a delegate. Requires that each is on the session's queue, and that none follows the end.
class Recorder: NSObject {
  private let stream: AsyncStream<OnQueue<Callback>>
  private let continuation: AsyncStream<OnQueue<Callback>>.Continuation
  private var hasEnded = false

  override init() {
    (stream, continuation) = AsyncStream.makeStream()
    super.init()
  }

  func note(_ callback: Callback, _ session: NFCReaderSession) {
    dispatchPrecondition(condition: .onQueue(session.sessionQueue))
    if hasEnded { Issue.record("after the end: \(callback.name)") }
    continuation.yield(OnQueue(callback))
    if case .ended = callback {
      hasEnded = true
      // Work on the queue behind the end must not be a callback.
      let end = OnQueue(continuation)
      session.sessionQueue.async { end.value.finish() }
    }
  }

  /// The next callback; nil after the end.
  func next() async -> Callback? {
    var iterator = stream.makeAsyncIterator()
    return await iterator.next()?.value
  }

  func rest() async -> [String] {
    var names: [String] = []
    while let callback = await next() { names.append(callback.name) }
    return names
  }

  /// Skips callbacks without tags.
  func nextTags() async -> [NFCTag] {
    while let callback = await next() {
      if case .tags(let tags) = callback { return tags }
    }
    return []
  }

  /// Skips callbacks without tags.
  func nextNDEFTags() async -> [any NFCNDEFTag] {
    while let callback = await next() {
      if case .ndefTags(let tags) = callback { return tags }
    }
    return []
  }
}

final class MessageRecorder: Recorder, NFCNDEFReaderSessionDelegate {
  func readerSessionDidBecomeActive(_ session: NFCNDEFReaderSession) { note(.active, session) }

  func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {
    note(.messages(messages), session)
  }

  func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
    note(.ended((error as? NFCReaderError)?.code ?? .readerErrorInvalidParameter), session)
  }
}

final class NDEFTagRecorder: Recorder, NFCNDEFReaderSessionDelegate {
  func readerSessionDidBecomeActive(_ session: NFCNDEFReaderSession) { note(.active, session) }

  func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {
    note(.messages(messages), session)
  }

  func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
    note(.ndefTags(tags), session)
  }

  func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
    note(.ended((error as? NFCReaderError)?.code ?? .readerErrorInvalidParameter), session)
  }
}

final class TagRecorder: Recorder, NFCTagReaderSessionDelegate {
  func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession) { note(.active, session) }

  func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) { note(.tags(tags), session) }

  func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: any Error) {
    note(.ended((error as? NFCReaderError)?.code ?? .readerErrorInvalidParameter), session)
  }
}
