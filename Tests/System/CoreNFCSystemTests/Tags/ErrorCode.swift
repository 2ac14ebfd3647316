import CoreNFC

/// The code of the `NFCReaderError` that `body` throws; nil if it throws none.
func errorCode<Value>(_ body: () throws -> Value) -> NFCReaderError.Code? {
  do {
    _ = try body()
    return nil
  } catch {
    return (error as? NFCReaderError)?.code
  }
}
