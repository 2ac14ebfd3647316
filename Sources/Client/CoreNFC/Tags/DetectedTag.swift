import Foundation
import TagrouteClient

/// A tag that a session has found. The kinds of tags are subclasses.
///
/// It is not coded: a tag is only valid in its session.
class DetectedTag: NSObject, NFCNDEFTag {
  let tag: ReaderTag
  let run: SessionRun
  private(set) weak var owner: NFCReaderSession?

  required init(_ tag: ReaderTag, in session: NFCReaderSession) {
    self.tag = tag
    run = session.run
    owner = session
  }

  /// Fails: a tag cannot be restored.
  required init?(coder: NSCoder) { nil }

  /// Fails if the coder can report that. Otherwise it would end the process, so nothing is written then.
  func encode(with coder: NSCoder) {
    guard coder.decodingFailurePolicy == .setErrorAndReturn else { return }
    coder.failWithError(NFCReaderError(.readerErrorUnsupportedFeature))
  }

  class var supportsSecureCoding: Bool { true }

  /// The same tag, since two objects for it would have one state.
  func copy(with zone: NSZone? = nil) -> Any { self }

  override func isEqual(_ object: Any?) -> Bool { (object as? DetectedTag)?.tag == tag }

  override var hash: Int { tag.hashValue }

  var session: (any NFCReaderSessionProtocol)? { owner }

  var isAvailable: Bool { run.isAvailable(tag) }

  // MARK: NDEF

  func queryNDEFStatus(completionHandler: @escaping Handler<NFCNDEFStatus, Int>) {
    run.perform(.read, on: tag) { (result: Result<(NFCNDEFStatus, Int), any Error>) in
      switch result {
      case .success((let status, let capacity)): completionHandler(status, capacity, nil)
      case .failure(let error): completionHandler(.notSupported, 0, error)
      }
    } _: { tag in
      let (status, capacity) = try await tag.queryNDEF()
      return (NFCNDEFStatus(status), Int(capacity))
    }
  }

  func readNDEF(completionHandler: @escaping Handler<NFCNDEFMessage?>) {
    run.perform(.read, on: tag) { (result: Result<[UInt8], any Error>) in
      do {
        guard let message = NFCNDEFMessage(data: Data(try result.get())) else {
          throw NFCReaderError.wrongAnswer
        }
        completionHandler(message, nil)
      } catch {
        completionHandler(nil, error)
      }
    } _: { tag in
      try await tag.readNDEF()
    }
  }

  func writeNDEF(_ ndefMessage: NFCNDEFMessage, completionHandler: @escaping Handler<>) {
    // The program may change the message after the call.
    let bytes = ndefMessage.encoded
    run.perform(.write, on: tag, { completionHandler($0.errorOrNil) }) { tag in
      guard let bytes else { throw NFCReaderError(.readerErrorInvalidParameter) }
      try await tag.writeNDEF(bytes)
    }
  }

  func writeLock(completionHandler: @escaping Handler<>) {
    run.perform(.write, on: tag, { completionHandler($0.errorOrNil) }) { tag in
      try await tag.lock()
    }
  }

  // MARK: Commands

  /// Sends a command, after the calls before. If `make` throws for a wrong parameter, nothing is sent. `completion` is
  /// called exactly once, on the session's queue.
  final func start<Answer: Sendable>(
    _ make: () throws -> TagExchange<Answer>, _ completion: @escaping ResultHandler<Answer>
  ) {
    do {
      let exchange = try make()
      run.perform(.command, on: tag, completion) { tag in
        try exchange.read(try await tag.transceive(exchange.command, timeout: exchange.timeout))
      }
    } catch {
      run.queue.async { completion(.failure(error)) }
    }
  }

  /// The handler gets the placeholder beside an error.
  final func start<Answer: Sendable>(
    _ make: () throws -> TagExchange<Answer>, or placeholder: Answer, _ completionHandler: @escaping Handler<Answer>
  ) {
    start(make) { result in
      switch result {
      case .success(let answer): completionHandler(answer, nil)
      case .failure(let error): completionHandler(placeholder, error)
      }
    }
  }

  final func start(_ make: () throws -> TagExchange<Void>, _ completionHandler: @escaping Handler<>) {
    start(make) { (result: Result<Void, any Error>) in completionHandler(result.errorOrNil) }
  }

  /// Sends an APDU (ISO/IEC 7816-4, 5.1), unless there is a reason to refuse it. The handler gets the data and the two
  /// status bytes of the answer.
  final func send(
    _ apdu: NFCISO7816APDU, refusal: NFCReaderError.Code?, _ completionHandler: @escaping Handler<Data, UInt8, UInt8>
  ) {
    start(
      {
        if let refusal { throw NFCReaderError(refusal) }
        // Empty if the data or the expected answer is too long for an APDU.
        let command = apdu.encoded
        guard !command.isEmpty else { throw NFCReaderError(.readerErrorInvalidParameter) }
        return TagExchange(command: command, timeout: .seconds(5)) { answer in
          guard answer.count >= 2 else { throw NFCReaderError.wrongLength(answer.count) }
          return (Data(answer.dropLast(2)), answer[answer.count - 2], answer[answer.count - 1])
        }
      }, or: (Data(), 0, 0)
    ) { completionHandler($0.0, $0.1, $0.2, $1) }
  }
}

extension NFCNDEFStatus {
  fileprivate init(_ status: ReaderTag.Status) {
    switch status {
    case .notSupported: self = .notSupported
    case .readWrite: self = .readWrite
    case .readOnly: self = .readOnly
    }
  }
}

/// One command for a tag, and how its answer is read. A pure value, so a test needs no tag.
struct TagExchange<Answer: Sendable>: Sendable {
  /// The bytes for `ReaderTag.transceive`.
  var command: [UInt8]
  /// How long the tag may take.
  var timeout: Duration = .seconds(1)
  /// Reads the answer. Throws `NFCReaderError` if it has a wrong form.
  var read: @Sendable ([UInt8]) throws -> Answer
}

// What the exchanges of all kinds of tags need to read answers.

extension NFCReaderError {
  /// The answer has a wrong form.
  static var wrongAnswer: NFCReaderError { NFCReaderError(.readerTransceiveErrorTagResponseError) }

  /// The answer has a wrong length: `length` bytes in all.
  static func wrongLength(_ length: Int) -> NFCReaderError {
    NFCReaderError(
      .readerTransceiveErrorTagResponseError,
      userInfo: [NFCTagResponseUnexpectedLengthErrorKey: NSNumber(value: length)])
  }
}

extension Result {
  /// The error; nil on success.
  var errorOrNil: Failure? {
    if case .failure(let error) = self { error } else { nil }
  }
}

extension Collection<UInt8> {
  /// The bytes as `count` pieces of the same `size`; nil if there are more or fewer bytes.
  func pieces(_ count: Int, of size: Int) -> [Data]? {
    guard self.count == count * size else { return nil }
    return (0..<count).map { Data(dropFirst($0 * size).prefix(size)) }
  }
}
