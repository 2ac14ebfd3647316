import EventLoop
import Testing

@testable import CoreNFC

/// A completion handler. Only its error matters.
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

  var link: String? { records.first?.wellKnownTypeURIPayload()?.absoluteString }
}
