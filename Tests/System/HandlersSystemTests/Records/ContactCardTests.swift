import EventLoop
import NDEF
import Routing
import TestRig
import Testing
@testable import HandlersTests

@testable import Handlers

/// Contact cards as large as tags hold them, with any contents.
@Suite(.timeLimit(.minutes(2))) struct ContactCardTests {
  private static let size = 8 << 10
  private let data: DataDirectory
  private let launcher: Launcher

  init() throws {
    data = try DataDirectory()
    var environment = data.environment
    environment["XDG_RUNTIME_DIR"] = data.temporary.path
    launcher = Launcher(connection: nil, environment: environment, on: EventLoop(label: "test"))
    let folder = data.temporary.path
    try data.temporary.write(
      "#!/bin/sh\nprintf '%s\\n' \"$@\" > '\(folder)/arguments'\ncat \"$@\" > '\(folder)/input'\n", to: "bin/cards",
      mode: 0o755)
  }

  /// Cards of 8 KiB: one long line, many properties, no end, bytes that are no text, and nothing but zeroes.
  private static var cards: [[UInt8]] {
    func card(_ head: String, _ filler: String, _ tail: String = "\r\nEND:VCARD\r\n") -> [UInt8] {
      let room = size - head.utf8.count - tail.utf8.count
      let body = String(repeating: filler, count: room / filler.utf8.count + 1).utf8.prefix(room)
      return Array(head.utf8) + Array(body) + Array(tail.utf8)
    }
    let head = "BEGIN:VCARD\r\nVERSION:4.0\r\n"
    return [
      card(head + "FN:", "a"), card(head, "NOTE:$(touch x)\r\n"), card(head, "BEGIN:VCARD\r\n", ""),
      (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 167) }, [UInt8](repeating: 0, count: size),
    ]
  }

  private func message(_ payload: [UInt8]) throws -> NDEFMessage {
    let message = NDEFMessage(records: [
      NDEFRecord(typeNameFormat: .mediaType, type: Array("text/vcard".utf8), payload: payload)
    ])
    // As it comes from a tag.
    return try NDEFMessage(decoding: try message.encoded())
  }

  private func application(_ exec: String, _ claims: [String]) throws -> Application {
    let file = try data.entry("cards", ["Exec=\(exec)"], claims: claims, implements: !claims.isEmpty)
    return Application(desktopID: "cards.desktop", name: "Cards", file: file, origin: .system)
  }

  private func recorded(_ name: String) async throws -> [UInt8] {
    await launcher.allEnded()
    return try readFile(data.temporary.file(name))
  }

  @Test func `a default application gets every byte of a card of 8 KiB`() async throws {
    var registry = Registry()
    registry.typeDefaults["text/vcard"] = .application(try application("cards %f", []))
    for card in Self.cards {
      #expect(card.count == Self.size)
      let message = try message(card)
      let route = registry.route(for: message)
      #expect(route.kind == .recordDefault)
      #expect(await launcher.open(route, message: try message.encoded()).outcome == .delivered)
      #expect(try await recorded("input") == card)
      let path = String(decoding: try await recorded("arguments"), as: UTF8.self)
      #expect(path.wholeMatch(of: /\/.*\/tagroute\/tag-[0-9a-f]{16}\.vcf\n/) != nil, "\(path)")
    }
    await launcher.removeFiles()
  }

  @Test func `a handler gets the whole message with a card of 8 KiB`() async throws {
    let registry = Registry(declarations: [
      HandlerDeclaration(application: try application("cards", ["MimeTypes=text/vcard;"]), mimeTypes: ["text/vcard"])
    ])
    for card in Self.cards {
      let message = try message(card)
      let bytes = try message.encoded()
      #expect(await launcher.open(registry.route(for: message), message: bytes).outcome == .delivered)
      #expect(try await recorded("input") == bytes)
    }
  }

  @Test func `neither the reason nor the explanation has anything of a card`() throws {
    for card in Self.cards {
      let route = Registry().route(for: try message(card))
      let words = [route.reason] + route.steps.map(\.finding)
      #expect(route.kind == .none && words.allSatisfy { $0.utf8.count < 200 && !$0.contains("VERSION") })
    }
  }
}
