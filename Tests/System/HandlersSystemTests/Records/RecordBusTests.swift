@testable import HandlersTests
import Bus
import EventLoop
import NDEF
import Routing
import TestRig
import Testing

@testable import Handlers

/// Records without a link that go to applications on D-Bus.
@Suite(.timeLimit(.minutes(2))) struct RecordBusTests {
  private static let application = Application(
    desktopID: "org.example.Cards.desktop", name: "Cards", file: "/nonexistent/cards.desktop", isDBusActivatable: true,
    origin: .system)

  private let loop = EventLoop(label: "test")
  private let bus: PrivateBus
  private let runtime: TemporaryDirectory
  private let calls: AsyncStream<[Value]>
  private let called: AsyncStream<[Value]>.Continuation

  init() async throws {
    bus = try await PrivateBus.start()
    runtime = try TemporaryDirectory()
    (calls, called) = AsyncStream.makeStream(of: [Value].self)
  }

  private func connect() async throws -> Connection { try await Connection.open(BusAddress(bus.address), on: loop) }

  /// An application with one method. It records the arguments of each call.
  private func serve(_ interface: String, _ method: String, _ signatures: [String]) async throws -> Connection {
    let connection = try await connect()
    let called = called
    let arguments = try signatures.map { Argument("argument", try Signature($0)) }
    let exported = ExportedMethod(method, in: arguments) { _, call in
      called.yield(call.arguments)
      return []
    }
    try await connection.export(
      [ExportedInterface(interface, methods: [exported], limits: .tagMessage)], at: "/org/example/Cards")
    try await connection.standIn(for: "org.example.Cards")
    return connection
  }

  private func open(whole: Bool) async throws -> (message: [UInt8], outcome: HandOverOutcome) {
    let record = NDEFRecord(typeNameFormat: .mediaType, type: Array("text/vcard".utf8), payload: [1, 2, 3])
    let message = NDEFMessage(records: [record])
    var registry = Registry()
    registry.typeDefaults["text/vcard"] = .application(Self.application)
    let decided = try #require(registry.route(for: message).record)
    let launcher = Launcher(
      connection: try await connect(), environment: ["XDG_RUNTIME_DIR": runtime.path], on: loop)
    let bytes = try message.encoded()
    return (bytes, await launcher.open(Self.application, decided, of: bytes, whole: whole).outcome)
  }

  private func received() async -> [Value] {
    called.finish()
    var all: [Value] = []
    for await arguments in calls { all += arguments }
    return all
  }

  @Test func `a handler receives the message and an empty link`() async throws {
    let application = try await serve("org.tagroute.Handler1", "HandleTag", ["s", "ay", "a{sv}"])
    let (message, outcome) = try await open(whole: true)
    #expect(outcome == .delivered)
    let values = await received()
    #expect(values.first?.asString?.isEmpty == true)
    #expect(values.dropFirst().first?.asBytes == message)
    await application.close()
  }

  @Test func `a default application receives the URI of a file`() async throws {
    let application = try await serve("org.freedesktop.Application", "Open", ["as", "a{sv}"])
    #expect(try await open(whole: false).outcome == .delivered)
    let uri = try #require(await received().first?.asStrings?.first)
    #expect(uri.hasPrefix("file:///") && uri.hasSuffix(".vcf"))
    #expect(try readFile(String(uri.dropFirst("file://".count))) == [1, 2, 3])
    await application.close()
  }

  @Test func `an application that does not handle tags gets no call without a link`() async throws {
    let application = try await serve("org.freedesktop.Application", "Open", ["as", "a{sv}"])
    #expect(try await open(whole: true).outcome.failure?.code == .handlerFailed)
    #expect(await received().isEmpty)
    await application.close()
  }
}
