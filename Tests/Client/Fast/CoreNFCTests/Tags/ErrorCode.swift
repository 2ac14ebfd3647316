import Testing

@testable import CoreNFC

/// The code of the `NFCReaderError` that `body` throws; nil if it throws none.
func errorCode<Value>(_ body: () throws -> Value) -> NFCReaderError.Code? {
  do {
    _ = try body()
    return nil
  } catch {
    return (error as? NFCReaderError)?.code
  }
}

/// Requires that each call throws this code.
func expect(
  _ code: NFCReaderError.Code, of calls: [() throws -> Any], sourceLocation: SourceLocation = #_sourceLocation
) {
  for (index, call) in calls.enumerated() {
    #expect(errorCode(call) == code, "call \(index)", sourceLocation: sourceLocation)
  }
}

extension TagExchange {
  /// Requires that each answer is an error of the tag.
  func refuses(_ answers: [[UInt8]], sourceLocation: SourceLocation = #_sourceLocation) {
    for answer in answers {
      let code = errorCode { try read(answer) }
      #expect(code == .readerTransceiveErrorTagResponseError, "\(answer)", sourceLocation: sourceLocation)
    }
  }
}
