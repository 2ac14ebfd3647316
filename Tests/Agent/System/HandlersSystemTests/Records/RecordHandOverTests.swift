import Dispatch
import EventLoop
import Glibc
import NDEF
import Routing
import TestKit
import Testing

@testable import HandlersTests

@testable import Handlers

/// Records that go to programs, and the desktop entries that declare them.
@Suite(.timeLimit(.minutes(2))) struct RecordHandOverTests {
  private let data: DataDirectory
  private let launcher: Launcher
  private let loop = EventLoop(label: "test")
  /// A card of 8 KiB, as large as tags hold them, with every byte.
  private static let card =
    Array("BEGIN:VCARD\r\nFN:$(touch x)\r\n".utf8) + (0..<8 << 10).map { UInt8(truncatingIfNeeded: $0 &* 167) }

  init() throws {
    data = try DataDirectory()
    var environment = data.environment
    environment["XDG_RUNTIME_DIR"] = data.temporary.path
    launcher = Launcher(connection: nil, environment: environment, on: loop)
  }

  private func message() throws -> NDEFMessage {
    NDEFMessage(records: [
      NDEFRecord(typeNameFormat: .mediaType, type: Array("text/vcard".utf8), payload: Self.card)
    ])
  }

  /// Installs a program that records its arguments and its input.
  private func install(_ exec: String, _ claims: [String] = []) throws -> Application {
    let folder = data.temporary.path
    try data.temporary.write(
      "#!/bin/sh\nprintf '<%s>' \"$@\" > '\(folder)/arguments'\ncat > '\(folder)/input'\n", to: "bin/cards", mode: 0o755
    )
    let file = try data.entry("cards", ["Exec=\(exec)"], claims: claims, implements: !claims.isEmpty)
    return Application(desktopID: "cards.desktop", name: "Cards", file: file, origin: .system, launch: exec)
  }

  private func recorded(_ name: String) async throws -> String {
    await launcher.allEnded()
    return String(decoding: try readFile(data.temporary.file(name)), as: UTF8.self)
  }

  private func route(_ registry: Registry) throws -> Route { registry.route(for: try message()) }

  @Test(arguments: ["cards %f", "cards --open %F", "cards", "cards %u", "cards %U"])
  func `a default application gets a file, and no message`(exec: String) async throws {
    let application = try install(exec)
    var registry = Registry()
    registry.typeDefaults["text/vcard"] = .application(application)
    let outcome = await launcher.open(try route(registry), message: try message().encoded()).outcome
    #expect(outcome == .delivered)
    let arguments = try await recorded("arguments")
    #expect(try await recorded("input").isEmpty)
    let path = try #require(arguments.firstMatch(of: /<(?:file:\/\/)?(\/[^<>]*\.vcf)>$/)?.1)
    #expect(arguments.contains("file://") == exec.lowercased().hasSuffix("u"))
    #expect(try readFile(String(path)) == Self.card)
    await launcher.removeFiles()
    #expect(access(String(path), F_OK) != 0)
  }

  @Test func `a handler gets the message, and no argument for the link`() async throws {
    _ = try install("cards --from-tag %u", ["MimeTypes=text/*;"])
    let registry = await data.loaded().registry
    let route = try route(registry)
    #expect(route.kind == .record)
    let bytes = try message().encoded()
    #expect(await launcher.open(route, message: bytes).outcome == .delivered)
    #expect(try await recorded("arguments") == "<--from-tag>")
    #expect(try readFile(data.temporary.file("input")) == bytes)
  }

  @Test func `a default application is looked up once, and again after a change`() async throws {
    let application = try install("cards %f")
    let count = Counter()
    let handlers = HandlerRegistry(
      directories: data.directories, environment: data.environment, ownership: data.ownership,
      defaultApplication: { _ in nil },
      defaultForType: { type in
        count.increase()
        return type == "text/vcard" ? application : nil
      }, on: loop)
    await handlers.reload()
    for _ in 0..<3 {
      let registry = await handlers.registry(for: try message())
      #expect(registry.typeDefaults == ["text/vcard": .application(application)])
      #expect(try route(registry).kind == .recordDefault)
    }
    #expect(count.value == 1)
    await handlers.reload()
    _ = await handlers.registry(for: try message())
    #expect(count.value == 2)
    #expect(await handlers.registry(for: nil).typeDefaults.isEmpty)
  }

  @Test func `a look-up that does not end delays a tap for a limited time`() async throws {
    let gate = DispatchSemaphore(value: 0)
    let defaults = TypeDefaults(
      data.directories, environment: data.environment,
      lookup: { _ in
        gate.wait()
        return nil
      }, timeout: .milliseconds(20), on: loop)
    for number in 0...TypeDefaults.maximumPending {
      guard case .unusable = await defaults.answer(for: "text/x-\(number)") else {
        Issue.record("there is an answer")
        break
      }
    }
    for _ in 0..<TypeDefaults.maximumPending { gate.signal() }
  }
}

/// A number that several threads increase.
private final class Counter: Sendable {
  private let number = Locked(0)
  var value: Int { number.withLock { $0 } }
  func increase() { number.withLock { $0 += 1 } }
}
