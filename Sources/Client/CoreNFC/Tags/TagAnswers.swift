import Foundation

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

extension DetectedTag {
  /// Runs an exchange, or refuses it if `make` throws `NFCReaderError` for a wrong parameter.
  ///
  /// - Parameters:
  ///   - make: makes the exchange.
  ///   - placeholder: what the handler gets beside an error.
  ///   - completionHandler: gets the answer, or the placeholder and the error.
  func start<Answer: Sendable>(
    _ make: () throws -> TagExchange<Answer>, or placeholder: Answer,
    _ completionHandler: @escaping @Sendable (Answer, (any Error)?) -> Void
  ) {
    start(make) { result in
      switch result {
      case .success(let answer): completionHandler(answer, nil)
      case .failure(let error): completionHandler(placeholder, error)
      }
    }
  }

  /// Runs an exchange, or refuses it if `make` throws `NFCReaderError` for a wrong parameter.
  func start<Answer: Sendable>(
    _ make: () throws -> TagExchange<Answer>, _ completion: @escaping @Sendable (Result<Answer, any Error>) -> Void
  ) {
    do {
      exchange(try make(), completion)
    } catch {
      refuse((error as? NFCReaderError)?.code ?? .readerErrorInvalidParameter, completion)
    }
  }
}
