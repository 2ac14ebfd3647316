import NDEF
import Rig
import TagsPages
import Testing

struct WriteFormTests {
  private var form = WriteForm(locale: "de_DE.UTF-8")

  /// A form with one record.
  private static func form(
    _ kind: RecordForm.Kind, _ texts: [RecordForm.Field: String] = [:], file: [UInt8]? = nil, isOpen: Bool = false
  ) -> WriteForm {
    var form = WriteForm(locale: "C")
    for record in form.records { form.remove(record.id) }
    let id = form.add(kind).id
    form.change(id) {
      $0.texts.merge(texts) { $1 }
      $0.isOpen = isOpen
      $0.file = file.map { RecordForm.File(name: "file", contents: $0) }
    }
    return form
  }

  @Test func `a form starts with a link`() {
    #expect(form.records.map(\.kind) == [.link])
    #expect(form.draft.message == nil)
  }

  @Test mutating func `a text has the language of the user`() {
    #expect(form.add(.text).texts == [.language: "de"])
    #expect(Self.form(.text).records[0].texts == [.language: "en"])
  }

  @Test func `each kind of record is encoded as the command line does it`() throws {
    let card = Array("BEGIN:VCARD\r\nVERSION:4.0\r\nFN:Ada\r\nEND:VCARD\r\n".utf8)
    let forms: [(WriteForm, String)] = [
      (Self.form(.link, [.link: " example.com/menu "]), "link: https://example.com/menu"),
      (Self.form(.text, [.text: "Hello\nthere"]), "text (en): Hello there"),
      (
        Self.form(.wifi, [.ssid: "Guests", .passphrase: "secret word"]),
        "Wi-Fi network: Guests, WPA2, password: on the tag, not shown"
      ),
      (
        Self.form(.wifi, [.ssid: "Guests", .passphrase: "x"], isOpen: true), "Wi-Fi network: Guests, open, no password"
      ),
      (
        Self.form(
          .contact, [.name: "Lovelace; Ada", .phone: "+1 555", .mail: "ada@example.com", .organisation: "A, B\\C"]),
        "contact: Lovelace; Ada, A, B\\C, phone +1 555, mail ada@example.com"
      ),
      (Self.form(.contact, [.name: "ignored"], file: card), "contact: Ada"),
      (Self.form(.place, [.coordinates: "48.2010, 16.3695"]), "place: latitude 48.2010, longitude 16.3695"),
      (Self.form(.file, [.type: "image/png"], file: [1, 2, 3]), "file: image/png, 3 bytes"),
      (Self.form(.data, [.type: "example.com:ticket", .content: "42"]), "data: example.com:ticket, 2 bytes"),
    ]
    for (form, line) in forms {
      #expect(form.draft.lines == [line])
      _ = try NDEFMessage(decoding: try #require(form.draft.message))
    }
  }

  @Test func `what is wrong belongs to its field`() {
    let forms: [(WriteForm, RecordForm.Field)] = [
      (Self.form(.link), .link), (Self.form(.link, [.link: "http://"]), .link), (Self.form(.text), .text),
      (Self.form(.text, [.text: "x", .language: "d\u{E9}"]), .language), (Self.form(.wifi), .ssid),
      (Self.form(.wifi, [.ssid: "Guests", .passphrase: "short"]), .passphrase), (Self.form(.contact), .name),
      (Self.form(.contact, file: [1]), .file), (Self.form(.place, [.coordinates: "91,0"]), .coordinates),
      (Self.form(.file, [.type: "image/png"]), .file), (Self.form(.file, [.type: "png"], file: [1]), .type),
      (Self.form(.data, [.type: "ticket"]), .type), (Self.form(.message), .file),
      (Self.form(.message, file: [1, 2, 3]), .file),
    ]
    for (form, field) in forms {
      let draft = form.draft
      #expect(draft.message == nil)
      #expect(draft.mistakes[form.records[0].id]?.field == field, "\(form.records)")
    }
  }

  @Test mutating func `a mistake is shown in a field that the user has left, or after Write`() {
    let id = form.records[0].id
    #expect(form.visibleMistake(form.draft, id, .link) == nil)
    form.change(id) { $0.visited.insert(.link) }
    #expect(form.visibleMistake(form.draft, id, .link) != nil)
    let other = form.add(.place).id
    #expect(form.visibleMistake(form.draft, other, .coordinates) == nil)
    form.showsMistakes = true
    #expect(form.visibleMistake(form.draft, other, .coordinates) != nil)
  }

  @Test func `a contact is a line for each value, whatever is typed`() throws {
    let form = Self.form(.contact, [.name: "A\r\nTEL:1", .phone: "2\nEND:VCARD"])
    let message = try NDEFMessage(decoding: try #require(form.draft.message))
    let lines = String(decoding: message.records[0].payload, as: UTF8.self).split(separator: "\r\n")
    #expect(
      lines == ["BEGIN:VCARD", "VERSION:3.0", "N:A  TEL:1;;;;", "FN:A  TEL:1", "TEL:2 END:VCARD", "END:VCARD"])
  }

  @Test mutating func `records can be moved, removed and restored`() {
    let (first, second) = (form.records[0].id, form.add(.text).id)
    #expect(form.move(first, by: -1) == nil)
    #expect(form.move(first, by: 1) == 1)
    #expect(form.records.map(\.id) == [second, first])
    form.remove(second)
    #expect(form.restore()?.place == 0)
    #expect(form.records.map(\.id) == [second, first])
    #expect(form.restore() == nil)
    form.remove(first)
    form.remove(second)
    #expect(form.draft.message == nil)
  }

  /// There are several encodings: this one has the length of a long record.
  @Test mutating func `a whole message keeps its bytes, and is only records beside others`() throws {
    let long: [UInt8] = [0xC1, 0x01, 0, 0, 0, 0x02, 0x55, 0x04, 0x61]
    var form = Self.form(.message, file: long)
    #expect(form.draft.message == long)
    let text = form.add(.text).id
    form.change(text) { $0.texts[.text] = "x" }
    let message = try NDEFMessage(decoding: try #require(form.draft.message))
    #expect(message.records.count == 2)
  }

  @Test func `hostile texts are encoded or refused`() {
    for text in HostileText.samples.map(\.text) {
      for kind in RecordForm.Kind.allCases {
        let texts = Dictionary(uniqueKeysWithValues: RecordForm.fields(kind).map { ($0, text) })
        let form = Self.form(kind, texts, file: Array(text.utf8))
        let draft = form.draft
        #expect((draft.message == nil) == !draft.mistakes.isEmpty)
        #expect(draft.lines.allSatisfy { $0.count <= 300 && !$0.contains("\n") })
      }
    }
  }
}
