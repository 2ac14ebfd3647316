import NDEF
import TestKit
import Testing

/// Neither the content of a tag nor the daemon's text about it can control the terminal. HostileRecordTests try each
/// text alone.
@Suite(.timeLimit(.minutes(5))) struct HostileTagTests {
  @Test(arguments: [["read"], ["read", "--json"], ["info"], ["info", "--json"]])
  func `hostile text from a tag is escaped`(command: [String]) async throws {
    let place = try await Place(starter: "`hostile text from a tag is escaped`_\(command.joined())")
    let text = HostileText.samples.map(\.text).filter { $0.utf8.count < 10_000 }.joined(separator: " ")
    let records = [
      URIRecord("https://example.com/" + text).record(), try TextRecord(text, language: "en").record(),
      NDEFRecord(typeNameFormat: .external, type: Array(text.utf8.prefix(100)), payload: Array(text.utf8)),
    ]
    var card = SessionCard(message: try NDEFMessage(records: records).encoded())
    // D-Bus strings cannot contain U+0000.
    card.technology = text.replacing("\0", with: "")
    try await place.daemon.place(card)
    let result = try await place.run(command)
    let printed = result.output + result.errors.joined(separator: "\n")
    #expect(!printed.isEmpty)
    #expect(HostileText.unsafe(in: printed).isEmpty, "\(printed.debugDescription.prefix(2000))")
  }
}
