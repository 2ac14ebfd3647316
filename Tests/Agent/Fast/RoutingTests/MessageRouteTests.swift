import NDEF
import Routing
import Testing
import UniversalLinks

@Suite struct MessageRouteTests {
  private let registry: Registry

  init() throws {
    registry = Registry(declarations: [
      try handler("first", ["first.example"]), try handler("second", ["second.example"]),
      try handler("script", schemes: ["javascript"]),
    ])
  }

  private func uri(_ text: String) -> NDEFRecord { URIRecord(text).record() }

  private func poster(_ records: NDEFRecord...) throws -> NDEFRecord {
    .wellKnown("Sp", payload: try NDEFMessage(records: records).encoded())
  }

  private let text = NDEFRecord.wellKnown("T", payload: [2] + Array("enhttps://second.example/".utf8))

  @Test func `the first URI record decides, wherever it is in the message`() throws {
    let message = NDEFMessage(records: [text, uri("https://first.example/"), uri("https://second.example/")])
    let route = registry.route(for: message)
    #expect(route.handler?.desktopID == "first.desktop")
    #expect(route.steps.first?.description == "record: record 2 of 3 is the first URI record")
  }

  @Test func `a refused first URI record is not replaced by a later one`() throws {
    let message = NDEFMessage(records: [uri("javascript:alert(1)"), uri("https://second.example/")])
    #expect(registry.route(for: message).kind == .refused)
    let broken = NDEFMessage(records: [.wellKnown("U", payload: [4, 0xFF]), uri("https://second.example/")])
    let route = registry.route(for: broken)
    #expect(route.kind == .refused)
    #expect(route.reason.hasPrefix("the URI record cannot be decoded"))
  }

  @Test func `a Smart Poster is ignored if the message has a URI record`() throws {
    let message = NDEFMessage(records: [try poster(uri("https://second.example/")), uri("https://first.example/")])
    #expect(registry.route(for: message).handler?.desktopID == "first.desktop")
  }

  @Test func `the first Smart Poster is used, unless Smart Posters are disabled`() throws {
    let message = NDEFMessage(records: [
      text, try poster(text, uri("https://first.example/")), try poster(uri("https://second.example/")),
    ])
    #expect(registry.route(for: message).handler?.desktopID == "first.desktop")
    let strict = registry.route(for: message, policy: RoutingPolicy(smartPosters: false))
    #expect(strict.kind == .none)
    #expect(strict.reason == "the message has no URI record, and Smart Posters are switched off")
  }

  @Test func `a Smart Poster that is broken or has no URI gives no route`() throws {
    let broken = NDEFMessage(records: [.wellKnown("Sp", payload: [0xD1])])
    #expect(registry.route(for: broken).reason == "the Smart Poster cannot be decoded")
    let textOnly = NDEFMessage(records: [try poster(text)])
    #expect(registry.route(for: textOnly).reason == "the Smart Poster has no URI record")
  }

  private func absolute(_ text: String) -> NDEFRecord {
    NDEFRecord(typeNameFormat: .absoluteURI, type: Array(text.utf8), payload: [1])
  }

  @Test func `the type of an absolute URI record is the link, if no other record has one`() throws {
    func route(_ records: NDEFRecord...) -> Route { registry.route(for: NDEFMessage(records: records)) }
    let (first, second) = (absolute("https://first.example/"), uri("https://second.example/"))
    #expect(route(text, first, absolute("https://second.example/")).handler?.desktopID == "first.desktop")
    #expect(route(first, second).handler?.desktopID == "second.desktop")
    #expect(route(first, try poster(second)).handler?.desktopID == "second.desktop")
    #expect(route(try poster(text), first).handler?.desktopID == "first.desktop")
    #expect(route(absolute("javascript:a"), first).refusal == .forbiddenScheme)
    #expect(route(absolute("windows.com/LaunchApp"), first).handler?.desktopID == "first.desktop")
    #expect(route(absolute("windows.com/LaunchApp")).reason == "the message has no URI record")
  }

  @Test func `text, media and empty records are ignored`() {
    let records = [
      text, .empty,
      NDEFRecord(typeNameFormat: .mediaType, type: Array("U".utf8), payload: [4] + Array("first.example".utf8)),
      NDEFRecord(
        typeNameFormat: .external, type: Array("example.com:U".utf8), payload: [4] + Array("first.example".utf8)),
    ]
    let route = registry.route(for: NDEFMessage(records: records))
    #expect(route.kind == .none)
    #expect(route.uri == nil)
    #expect(route.reason == "the message has no URI record, and the type of record 3 is malformed")
    #expect(registry.route(for: NDEFMessage(records: [])).kind == .none)
  }
}
