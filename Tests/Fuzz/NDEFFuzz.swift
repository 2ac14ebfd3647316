// Modules: NDEF

import NDEF

/// The input decodes as a message, or fails with an error at an offset within it. A decoded message can be encoded in
/// every way, and decodes to the same message again. A view that can read a record reads the same value from the record
/// that it makes.
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
    // A text without a language is read, and not written.
    require(text.language.isEmpty || again == text, "a text is the same when read again")
  }
  if let networks = try? WiFiRecord(record), let written = try? networks.record() {
    let again = try? WiFiRecord(written)
    require(again == networks, "a Wi-Fi network is the same when read again")
  }
  if let card = ContactCard(record) {
    require(card.phones.count <= ContactCard.mostNumbers, "a card is bounded")
    require(max(card.name.utf8.count, card.organisation.utf8.count) <= 4 * ContactCard.readAtMost, "a name is bounded")
  }
  if let poster = try? SmartPosterRecord(record) {
    let again = (try? poster.record()).flatMap { try? SmartPosterRecord($0) }
    let isComplete = poster.titles.allSatisfy { !$0.language.isEmpty }
    require(!isComplete || again == poster, "a Smart Poster is the same when read again")
  }
}

/// Ends the process, which the fuzzer reports as a failure.
private func require(_ condition: Bool, _ what: @autoclosure () -> String) {
  if !condition { fatalError("does not hold: " + what()) }
}
