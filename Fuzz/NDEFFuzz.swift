// Modules: NDEF

import NDEF

/// Any bytes: they decode or are refused within themselves. What decodes, encodes in every way to what decodes to the same;
/// what a view reads, it reads again from the record that it makes.
@c(LLVMFuzzerTestOneInput)
public func fuzzNDEF(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = Array(UnsafeBufferPointer(start: start, count: count))
  let message: NDEFMessage
  do {
    message = try NDEFMessage(decoding: input)
  } catch {
    require((0...count).contains(error.offset), "an error lies within the input: \(error)")
    return 0
  }
  for options in [
    .default, NDEFEncodingOptions(shortRecords: false), NDEFEncodingOptions(chunkSize: 1 + count % 7),
  ] {
    let encoded = try? message.encoded(options)
    require(encoded.flatMap { try? NDEFMessage(decoding: $0) } == message, "\(options) gives the same message")
  }
  require((try? message.encoded().count).map { $0 <= count } ?? false, "no encoding is shorter than the default one")
  for record in message.records { checkViews(of: record) }
  return 0
}

private func checkViews(of record: NDEFRecord) {
  if let uri = try? URIRecord(record) {
    let again = try? URIRecord(uri.record())
    require(again == uri, "a URI is the same when read again")
  }
  if let text = try? TextRecord(record) {
    let again = (try? text.record()).flatMap { try? TextRecord($0) }
    require(again == text, "a text is the same when read again")
  }
  if let poster = try? SmartPosterRecord(record) {
    let again = (try? poster.record()).flatMap { try? SmartPosterRecord($0) }
    require(again == poster, "a Smart Poster is the same when read again")
  }
}

/// Ends the process, which is what the fuzzer looks for.
private func require(_ condition: Bool, _ what: @autoclosure () -> String) {
  if !condition { fatalError("does not hold: " + what()) }
}
