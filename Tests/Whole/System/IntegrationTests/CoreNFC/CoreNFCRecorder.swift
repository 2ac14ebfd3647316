import EventLoop
import Testing

@testable import CoreNFC

/// A callback of a session.
enum Told {
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

/// The callbacks of one session, in order. Each has to come on the session's queue, and none after the end.
final class Callbacks: Sendable {
  private let stream: AsyncStream<OnQueue<Told>>
  private let continuation: AsyncStream<OnQueue<Told>>.Continuation
  private let hasEnded = Locked(false)

  init() { (stream, continuation) = AsyncStream.makeStream() }

  func note(_ told: Told, _ session: NFCReaderSession) {
    dispatchPrecondition(condition: .onQueue(session.sessionQueue))
    let isEnd = if case .ended = told { true } else { false }
    let isLate = hasEnded.withLock { hasEnded in
      let isLate = hasEnded
      hasEnded = hasEnded || isEnd
      return isLate
    }
    if isLate { Issue.record("\(told.name) came after the end") }
    continuation.yield(OnQueue(told))
    if isEnd { continuation.finish() }
  }

  /// The next callback; nil after the end.
  func next() async -> Told? {
    var iterator = stream.makeAsyncIterator()
    return await iterator.next()?.value
  }
}

/// A delegate that keeps its callbacks. Its session holds it weakly, so a test uses it until the session has ended.
protocol RecordingDelegate: AnyObject {
  var callbacks: Callbacks { get }
}

/// A delegate that gets messages.
final class MessageDelegate: NSObject, RecordingDelegate, NFCNDEFReaderSessionDelegate {
  let callbacks = Callbacks()

  func readerSessionDidBecomeActive(_ session: NFCNDEFReaderSession) { callbacks.note(.active, session) }

  func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {
    callbacks.note(.messages(messages), session)
  }

  func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
    callbacks.note(.ended((error as? NFCReaderError)?.code ?? .readerErrorInvalidParameter), session)
  }
}

/// A delegate that gets NDEF tags.
final class NDEFTagDelegate: NSObject, RecordingDelegate, NFCNDEFReaderSessionDelegate {
  let callbacks = Callbacks()

  func readerSessionDidBecomeActive(_ session: NFCNDEFReaderSession) { callbacks.note(.active, session) }

  func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {
    callbacks.note(.messages(messages), session)
  }

  func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
    callbacks.note(.ndefTags(tags), session)
  }

  func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
    callbacks.note(.ended((error as? NFCReaderError)?.code ?? .readerErrorInvalidParameter), session)
  }
}

/// The delegate of a tag session.
final class TagDelegate: NSObject, RecordingDelegate, NFCTagReaderSessionDelegate {
  let callbacks = Callbacks()

  func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession) { callbacks.note(.active, session) }

  func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {
    callbacks.note(.tags(tags), session)
  }

  func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: any Error) {
    callbacks.note(.ended((error as? NFCReaderError)?.code ?? .readerErrorInvalidParameter), session)
  }
}

/// A completion handler of which only the error matters.
typealias Completion = @Sendable ((any Error)?) -> Void

/// The answers of completion handlers, in order: the name of the call and the code of its error, 0 for none.
final class Answers: Sendable {
  private let stream: AsyncStream<String>
  private let continuation: AsyncStream<String>.Continuation

  init() { (stream, continuation) = AsyncStream.makeStream() }

  func handler(_ name: String) -> Completion {
    { [continuation] error in
      let code = error.map { ($0 as? NFCReaderError)?.code.rawValue ?? -1 } ?? 0
      continuation.yield("\(name) \(code)")
    }
  }

  func next() async -> String? {
    var iterator = stream.makeAsyncIterator()
    return await iterator.next()
  }

  /// All answers that are left. The session has ended, so no other handler is called.
  func rest() async -> [String] {
    continuation.finish()
    return await stream.reduce(into: []) { $0.append($1) }
  }
}

/// The code of the error of a call; nil if the call succeeds, -1 for another error.
func errorCode(_ call: () async throws -> Void) async -> Int? {
  do {
    try await call()
    return nil
  } catch {
    return (error as? NFCReaderError)?.code.rawValue ?? -1
  }
}

extension NFCTag {
  var asMiFare: (any NFCMiFareTag)? { if case .miFare(let tag) = self { tag } else { nil } }
  var asISO7816: (any NFCISO7816Tag)? { if case .iso7816(let tag) = self { tag } else { nil } }
  var asISO15693: (any NFCISO15693Tag)? { if case .iso15693(let tag) = self { tag } else { nil } }
  var asFeliCa: (any NFCFeliCaTag)? { if case .feliCa(let tag) = self { tag } else { nil } }
  var asNDEF: (any NFCNDEFTag)? { self.any as? any NFCNDEFTag }
}

extension NFCNDEFMessage {
  /// A message of this length, 3 to 258 bytes. Its only record has an unknown type and a header of three bytes.
  static func filled(_ length: Int) -> NFCNDEFMessage {
    let payload = Data(repeating: 0x5A, count: length - 3)
    return NFCNDEFMessage(
      records: [NFCNDEFPayload(format: .unknown, type: Data(), identifier: Data(), payload: payload)])
  }

  /// The link of the first record.
  var link: String? { records.first?.wellKnownTypeURIPayload()?.absoluteString }
}
