import NDEF
import Testing

@testable import Routing

@Suite struct RecordTypeTests {
  private func media(_ type: String) -> RecordType? {
    RecordType(NDEFRecord(typeNameFormat: .mediaType, type: Array(type.utf8)))
  }

  private func external(_ type: String) -> RecordType? {
    RecordType(NDEFRecord(typeNameFormat: .external, type: Array(type.utf8)))
  }

  @Test func `types are read without case and parameters`() {
    #expect(media("text/vCard; charset=utf-8") == .media("text/vcard"))
    #expect(media("application/vnd.wfa.wsc") == .media("application/vnd.wfa.wsc"))
    #expect(external("Example.COM:Ticket") == .external("example.com:ticket"))
    #expect(RecordType(.wellKnown("T", payload: [])) == nil)
  }

  @Test(arguments: [
    "", "text", "/", "text/", "/vcard", "text/vcard/x", "text/v\u{7}card", "text/\u{1B}[2J", "te xt/vcard", "text/*",
    "../etc", "text/..", "text/a#b", "text/\u{212A}", "inode/directory", "x-scheme-handler/https",
    "a/" + String(repeating: "x", count: 128),
  ]) func `a malformed media type is none`(type: String) {
    #expect(media(type) == nil)
  }

  @Test(arguments: [
    "", ":", "example.com", "example.com:", ":a", "a b:c", "example.com:a/b", "example.com:a:b", "a:\u{0}",
  ])
  func `a malformed external type is none`(type: String) {
    #expect(external(type) == nil)
  }

  @Test func `bytes that are not text are no type`() {
    #expect(RecordType(NDEFRecord(typeNameFormat: .mediaType, type: [0x61, 0x2F, 0xFF])) == nil)
    #expect(RecordType(NDEFRecord(typeNameFormat: .external, type: [0xC3, 0x28, 0x3A, 0x61])) == nil)
  }

  @Test func `claims have one spelling, and domains and schemes stay what they are`() {
    #expect(RecordType.mediaClaim("Image/*") == "image/*")
    #expect(RecordType.mediaClaim("*/*") == nil)
    #expect(RecordType.mediaClaim("*") == nil)
    #expect(RecordType.externalClaim("android.com:pkg") == nil)
    #expect(HandlerChoices.claim("TEXT/vcard") == "text/vcard")
    #expect(HandlerChoices.claim("image/*") == "image/*")
    #expect(HandlerChoices.claim("Example.com:ticket") == "example.com:ticket")
    #expect(HandlerChoices.claim("menu.example.com") == "menu.example.com")
    #expect(HandlerChoices.claim("tel:") == "tel:")
    #expect(HandlerChoices.claim("https://example.com/") == nil)
  }

  @Test func `the exact claim comes first`() {
    #expect(RecordType.media("text/x-vcard").claims == ["text/x-vcard", "text/vcard", "text/*"])
    #expect(RecordType.external("example.com:a").claims == ["example.com:a"])
  }

  /// Programs, pages and archives under the names that files and databases of types have for them, and data that an app
  /// does more with than to show it.
  @Test(arguments: [
    "application/x-extension-html", "application/x-extension-htm", "application/x-extension-shtml",
    "application/x-extension-xhtml", "application/x-extension-xht", "text/html", "application/xhtml+xml", "text/xml",
    "application/hta", "application/x-elf", "text/x-shellscript", "application/x-desktop", "image/svg+xml", "image/svg",
    "image/x-eps", "application/postscript", "application/java-archive", "application/x-sh", "text/x-lua",
    "multipart/related", "message/rfc822", "application/zip", "application/vnd.flatpak.ref", "audio/x-mpegurl",
    "audio/x-scpls", "video/x-ms-asf", "application/x-bittorrent", "application/vnd.oasis.opendocument.text",
    "application/msword", "application/json", "application/octet-stream", "text/markdown", "application/vnd.wfa.wsc",
  ]) func `a type that is not only shown or played never becomes a file`(type: String) {
    #expect(media(type)?.mayBeFile == false)
  }

  @Test func `data may become a file`() {
    for type in ["text/vcard", "text/calendar", "text/plain", "image/png", "audio/ogg", "video/mp4", "application/pdf"]
    {
      #expect(media(type)?.mayBeFile == true)
    }
    #expect(external("example.com:a")?.mayBeFile == false)
  }
}
