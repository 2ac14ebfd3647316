import NDEF
import Testing

@testable import Routing

/// Decisions about messages without a link, and about combined ones.
@Suite struct TypeRouteTests {
  private func declaration(
    _ id: String, _ mimeTypes: [String] = [], external: [String] = [], origin: Application.Origin = .system
  ) -> HandlerDeclaration {
    HandlerDeclaration(
      application: application(id, origin: origin), mimeTypes: mimeTypes, externalTypes: external)
  }

  private func registry(
    _ declarations: [HandlerDeclaration] = [], defaults: [String: TypeDefault] = [:]
  ) -> Registry {
    var registry = Registry(declarations: declarations, defaults: ["https": application("web")])
    registry.typeDefaults = defaults
    return registry
  }

  private func media(_ type: String) -> NDEFRecord {
    NDEFRecord(typeNameFormat: .mediaType, type: Array(type.utf8), payload: [1])
  }

  private func external(_ type: String) -> NDEFRecord {
    NDEFRecord(typeNameFormat: .external, type: Array(type.utf8), payload: [2])
  }

  private let android = NDEFRecord(
    typeNameFormat: .external, type: Array("android.com:pkg".utf8), payload: Array("org.example".utf8))

  private func route(_ registry: Registry, _ records: NDEFRecord..., policy: RoutingPolicy = RoutingPolicy()) -> Route {
    registry.route(for: NDEFMessage(records: records), policy: policy)
  }

  @Test func `the exact type comes before the wildcard, and both before the default application`() {
    let exact = declaration("exact", ["text/vcard"])
    let wide = declaration("wide", ["text/*"])
    let defaults = ["text/vcard": TypeDefault.application(application("contacts"))]
    let first = route(registry([wide, exact], defaults: defaults), media("text/vcard"))
    #expect(first.kind == .record && first.handler?.desktopID == "exact.desktop")
    #expect(first.handsOverMessage && first.uri == nil && first.trusted)
    #expect(first.alternative?.desktopID == "contacts.desktop")
    #expect(first.record?.type == .media("text/vcard") && first.record?.number == 1)
    #expect(first.claimants.map(\.outcome) == [.only, .lessExact])
    #expect(first.steps.map(\.subject) == ["record", "record", "type", "type", "choice"])
    let second = route(registry([wide], defaults: defaults), media("text/vcard"))
    #expect(second.handler?.desktopID == "wide.desktop")
    let third = route(registry(defaults: defaults), media("text/vcard"))
    #expect(third.kind == .recordDefault && third.handler?.desktopID == "contacts.desktop")
    #expect(!third.handsOverMessage)
  }

  @Test func `a record that no app gets because of its type is named, with the command that saves it`() {
    let found = route(registry(), android, media("application/x-foo"))
    #expect(found.unopenedRecord?.number == 2 && found.kind == .none)
    #expect(found.reason.hasSuffix("; tagroute inbox export --record 2 ID FILE saves it"))
    // An app may get its type, but either there is no such app, or there is one.
    #expect(route(registry(), media("text/vcard")).unopenedRecord == nil)
    #expect(route(registry(), external("example.com:a")).unopenedRecord == nil)
    #expect(route(registry(), media("application/vnd.wfa.wsc")).unopenedRecord == nil)
    let handler = declaration("foo", ["application/x-foo"])
    #expect(route(registry([handler]), media("application/x-foo")).unopenedRecord == nil)
  }

  @Test func `another name of a type finds its handler`() {
    let registry = registry([declaration("cards", ["text/vcard"])])
    #expect(route(registry, media("text/x-vCard;version=2.1")).handler?.desktopID == "cards.desktop")
    #expect(route(registry, media("text/x-other")).handler == nil)
  }

  @Test func `an external type goes to handlers only`() {
    let registry = registry([declaration("coupons", external: ["example.com:coupon"])])
    #expect(route(registry, external("Example.com:Coupon")).handler?.desktopID == "coupons.desktop")
    let other = route(registry, external("example.com:ticket"))
    #expect(other.kind == .none && other.reason.contains("external"))
    // The format matters, not only the text.
    #expect(route(registry, media("example.com:coupon")).handler == nil)
  }

  @Test func `a URI record decides alone, wherever it is`() {
    let registry = registry([declaration("cards", ["text/vcard"])])
    let link = route(registry, media("text/vcard"), URIRecord("https://example.com/").record())
    #expect(link.kind == .default && link.handler?.desktopID == "web.desktop" && link.record == nil)
    #expect(route(registry, media("text/vcard"), URIRecord("javascript:a").record()).kind == .refused)
    #expect(route(registry, media("text/vcard"), URIRecord("x-other:a").record()).kind == .none)
  }

  @Test func `the first record with a type decides alone`() {
    let registry = registry([declaration("cards", ["text/vcard"])])
    let route = route(registry, media("image/png"), media("text/vcard"))
    #expect(route.kind == .none && route.handler == nil)
    #expect(route.record?.type == .media("image/png"))
  }

  @Test func `Android application records do not count`() {
    let registry = registry([declaration("cards", ["text/vcard"], external: ["android.com:pkg"])])
    #expect(route(registry, android, media("text/vcard")).record?.number == 2)
    let alone = route(registry, android)
    #expect(alone.kind == .none && alone.record == nil)
    #expect(alone.steps.last?.finding == "record 1 names an Android app, and is ignored")
  }

  @Test func `a malformed type is quoted nowhere`() {
    let route = route(registry(), media("text/\u{1B}[2J"))
    #expect(route.kind == .none && !route.reason.contains("\u{1B}"))
    #expect(!route.steps.contains { $0.finding.contains("\u{1B}") })
  }

  @Test func `a program from a tag goes to no default application, but to a handler`() {
    let type = "application/x-desktop"
    let defaults = [type: TypeDefault.application(application("runner"))]
    #expect(route(registry(defaults: defaults), media(type)).kind == .none)
    #expect(Registry.typeOfDefault(for: NDEFMessage(records: [media(type)])) == nil)
    #expect(route(registry([declaration("ours", [type])], defaults: defaults), media(type)).alternative == nil)
  }

  @Test func `the reason for no app does not name the type, and the steps do`() {
    let route = route(registry(defaults: ["image/png": .unusable("it is broken")]), media("image/png"))
    #expect(route.kind == .none && route.reason.contains("can be opened: it is broken; "))
    #expect(!route.reason.contains("image/png"))
    #expect(route.steps.contains { $0.finding == "no handler declares image/png" })
  }

  @Test func `the user's choices and the trust in an app are those of links`() {
    let own = declaration("own", ["image/png"], origin: .user)
    let registry = registry([own, declaration("wide", ["image/*"])])
    let question = route(registry, media("image/png"))
    // A more exact claim must not hide a trusted app.
    #expect(question.question == .which && question.candidates.count == 2)
    var policy = RoutingPolicy()
    expect(true, &policy.choices, .prefer(own.application, claim: "image/png"))
    let preferred = route(registry, media("image/png"), policy: policy)
    #expect(preferred.question == .nothing && preferred.handler?.desktopID == "own.desktop")
    #expect(route(registry, media("image/gif"), policy: policy).handler?.desktopID == "wide.desktop")
    expect(true, &policy.choices, .block(desktopID: "wide.desktop", claim: "image/*"))
    #expect(route(registry, media("image/gif"), policy: policy).handler == nil)
    #expect(own.covers("image/png") && !own.covers("image/*") && !own.covers("image/gif"))
    #expect(declaration("wide", ["image/*"]).covers("image/gif"))
  }

  @Test func `a rule opens a record in any app, as a file or as a message`() {
    func decide(_ action: TapRule.Action, _ record: NDEFRecord, naming type: String? = nil) -> Route {
      let rule = TapRule(
        name: "a", origin: .user, file: "/r.conf", line: 1,
        conditions: [.uid([4, 1, 2, 3])] + (type.map { [.mimeType($0)] } ?? []), action: action)
      let registry = registry(
        [declaration("cards", ["text/vcard"])],
        defaults: ["text/plain": .application(application("editor")), "text/x-lua": .application(application("lua"))])
      var rules = RuleSet([rule])
      rules.applications["player.desktop"] = RuleSet.NamedApplication(
        application("player"), takesLinks: false, takesFiles: true)
      return registry.route(
        for: TagRead(uid: [4, 1, 2, 3], message: NDEFMessage(records: [record])), rules: rules)
    }
    let file = decide(.open("player.desktop"), media("audio/mpeg"))
    #expect(file.kind == .rule && file.handler?.desktopID == "player.desktop" && !file.handsOverMessage)
    #expect(file.record?.type == .media("audio/mpeg"))
    #expect(decide(.open("cards.desktop"), external("example.com:a")).handsOverMessage)
    #expect(decide(.openDefault, media("text/plain")).handler?.desktopID == "editor.desktop")
    #expect(decide(.open("player.desktop"), media("application/x-sh")).handler == nil)
    for action in [TapRule.Action.open("player.desktop"), .openDefault] {
      #expect(decide(action, media("text/x-lua")).handler == nil)
      #expect(decide(action, media("text/x-lua"), naming: "text/*").handler == nil)
    }
    // The user has named the app and the type, but a network goes to no app.
    #expect(
      decide(.open("player.desktop"), media("text/x-lua"), naming: "text/x-lua").handler?.desktopID == "player.desktop")
    #expect(decide(.openDefault, media("text/x-lua"), naming: "text/x-lua").handler == nil)
    #expect(decide(.open("player.desktop"), media(WiFiRecord.type), naming: WiFiRecord.type).handler == nil)
    #expect(decide(.open("cards.desktop"), media("text/x-lua")).handsOverMessage)
    #expect(decide(.open("player.desktop"), external("example.com:a")).handler == nil)
    #expect(decide(.openDefault, media("image/png")).handler == nil)
  }
}

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
