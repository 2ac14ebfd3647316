import NDEF
import TestRig
import Testing

/// Neither the content of a tag nor the daemon's text about it can control the terminal.
@Suite(.timeLimit(.minutes(5))) struct HostileTagTests {
  @Test(arguments: [["read"], ["read", "--json"], ["info"], ["info", "--json"]])
  func `hostile text from a tag is escaped`(command: [String]) async throws {
    let place = try await Place(starter: "`hostile text from a tag is escaped`_\(command.joined())")
    for sample in HostileText.samples where sample.text.utf8.count < 10_000 {
      let records = [
        URIRecord("https://example.com/" + sample.text).record(), try TextRecord(sample.text, language: "en").record(),
        NDEFRecord(
          typeNameFormat: .external, type: Array(sample.text.utf8.prefix(100)), payload: Array(sample.text.utf8)),
      ]
      var card = SessionCard(message: try NDEFMessage(records: records).encoded())
      // D-Bus strings cannot contain U+0000.
      card.technology = sample.text.replacing("\0", with: "")
      try await place.daemon.place(card)
      let result = try await place.run(command)
      let printed = result.output + result.errors.joined(separator: "\n")
      #expect(!printed.isEmpty)
      #expect(HostileText.unsafe(in: printed).isEmpty, "\(sample.name): \(printed.debugDescription.prefix(2000))")
    }
  }
}
