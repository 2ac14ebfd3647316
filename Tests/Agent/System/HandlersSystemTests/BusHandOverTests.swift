import Bus
import EventLoop
import Glibc
import NDEF
import Routing
import TestKit
import Testing
import UniversalLinks

@testable import Handlers
@testable import HandlersTests

@Suite(.timeLimit(.minutes(5))) struct BusHandOverTests {
  private static let application = Application(
    desktopID: "org.example.My-Menu.desktop", name: "Menu", file: "/nonexistent/menu.desktop", isDBusActivatable: true,
    origin: .system)
  private static let path: ObjectPath = "/org/example/My_Menu"
  private static let click = Launcher.Click(
    activationToken: "token-1", tapID: "tap-1",
    tag: TagRead(
      id: "", time: 7, reader: "/readers/0", technology: "type-2", uid: [4, 0xA2], bytes: []))
  private static let message = [UInt8](repeating: 7, count: 100_000)

  private static let closed = HandOverFailure(.handlerFailed, "the kitchen is closed", error: BusError.Name.failed)

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

  /// Puts an application on the bus that replies as `handler` does, and records the arguments of each call.
  private func serve(
    _ interface: String, _ method: String, _ signatures: [String],
    _ handler: @escaping @Sendable () async throws -> Void = {}
  ) async throws -> Connection {
    let connection = try await connect()
    let called = called
    let arguments = try signatures.map { Argument("argument", try Signature($0)) }
    let exported = ExportedMethod(method, in: arguments) { _, call in
      called.yield(call.arguments)
      try await handler()
      return []
    }
    try await connection.export([ExportedInterface(interface, methods: [exported], limits: .tagMessage)], at: Self.path)
    try await connection.standIn(for: "org.example.My-Menu")
    return connection
  }

  /// The same for one that takes tags.
  private func serveTags(_ handler: @escaping @Sendable () async throws -> Void = {}) async throws -> Connection {
    try await serve("org.tagroute.Handler1", "HandleTag", ["s", "ay", "a{sv}"], handler)
  }

  private func open(message: [UInt8]? = BusHandOverTests.message, timeout: Duration = .seconds(25)) async throws
    -> HandOverOutcome
  {
    try await handOver(message: message, timeout: timeout).outcome
  }

  private func handOver(
    message: [UInt8]? = BusHandOverTests.message, timeout: Duration, limit: Duration = .seconds(300)
  ) async throws -> HandOver {
    let launcher = Launcher(
      connection: try await connect(), timeout: timeout, limit: limit, environment: [:], on: loop)
    let uri = try URI("https://menu.example.com/7")
    return await launcher.open(Self.application, uri, message: message, click: Self.click)
  }

  /// Opens a contact card, and the whole message that contains it if `whole` is true.
  private func openCard(whole: Bool) async throws -> (message: [UInt8], outcome: HandOverOutcome) {
    let record = NDEFRecord(typeNameFormat: .mediaType, type: Array("text/vcard".utf8), payload: [1, 2, 3])
    let message = NDEFMessage(records: [record])
    var registry = Registry()
    registry.typeDefaults["text/vcard"] = .application(Self.application)
    let decided = try #require(registry.route(for: message).record)
    let launcher = Launcher(
      connection: try await connect(), environment: ["XDG_RUNTIME_DIR": runtime.path], on: loop)
    let bytes = try message.encoded()
    let read = TagRead(id: "", time: 0, reader: "", technology: "", uid: [], bytes: bytes)
    return (bytes, await launcher.open(Self.application, decided, of: read, whole: whole).outcome)
  }

  private func received() async -> [Value] {
    called.finish()
    var all: [Value] = []
    for await arguments in calls { all += arguments }
    return all
  }

  @Test func `a handler receives the URI, the message, and the data of the click and of the tag`() async throws {
    let application = try await serveTags()
    #expect(try await open() == .delivered)
    let values = await received()
    #expect(values.count == 3)
    #expect(values.first?.asString == "https://menu.example.com/7")
    #expect(values.dropFirst().first?.asBytes == Self.message)
    #expect(
      values.last?.asDictionary == [
        "activation-token": .string("token-1"), "desktop-startup-id": .string("token-1"), "tap-id": .string("tap-1"),
        "uid": .bytes([4, 0xA2]), "technology": .string("type-2"), "reader": .string("/readers/0"), "time": .uint64(7),
      ])
    await application.close()
  }

  @Test func `an application without tag support receives the URI by Open, and no data of the tag`() async throws {
    let application = try await serve("org.freedesktop.Application", "Open", ["as", "a{sv}"])
    #expect(try await open() == .delivered)
    let values = await received()
    #expect(values.first?.asStrings == ["https://menu.example.com/7"])
    #expect(
      values.last?.asDictionary == ["activation-token": .string("token-1"), "desktop-startup-id": .string("token-1")])
    await application.close()
  }

  @Test func `a default application is not asked whether it supports tags`() async throws {
    let application = try await serveTags()
    #expect(try await open(message: nil).failure != nil)
    #expect(await received().isEmpty)
    await application.close()
  }

  @Test func `an application whose entry changed since it was offered is not called`() async throws {
    let served = try await serveTags()
    let data = try DataDirectory()
    let file = try data.entry("org.example.My-Menu", ["Exec=true %u", "DBusActivatable=true"])
    let launcher = Launcher(connection: try await connect(), environment: data.environment, on: loop)
    func open(_ launch: String) async throws -> HandOverOutcome {
      let application = Application(
        desktopID: "org.example.My-Menu.desktop", name: "Menu", file: file, isDBusActivatable: true, origin: .user,
        launch: launch)
      return await launcher.open(application, try URI("https://menu.example.com/7"), message: Self.message).outcome
    }
    let failure = try #require(try await open("D-Bus, false %u").failure, "it was delivered")
    #expect(failure.code == .entryChanged && failure.detail == "\(file):5", "\(failure)")
    #expect(try await open("D-Bus, true %u") == .delivered)
    #expect(await received().count == 3, "the handler is called once")
    await served.close()
  }

  @Test func `a refusal is reported with the application's message, and Open is not tried`() async throws {
    let application = try await serveTags {
      throw BusError(name: "org.example.Error.Closed", message: "the kitchen is closed")
    }
    let expected = HandOverFailure(.handlerFailed, "the kitchen is closed", error: "org.example.Error.Closed")
    #expect(try await open() == .failed(expected))
    #expect(expected.description == "the app did not take it: the kitchen is closed")
    #expect(await received().count == 3, "the handler is called once")
    await application.close()
  }

  /// An app may pass on an error that it received itself. The agent must not treat it as an error of the bus or of the
  /// agent's connection.
  @Test func `an error from the application is final, whatever its name`() async throws {
    let names = [
      BusError.Name.serviceUnknown, BusError.Name.nameHasNoOwner, BusError.Name.spawnExecFailed,
      BusError.Name.spawnServiceNotFound, BusError.Name.spawnFileInvalid, BusError.Name.unknownMethod,
      BusError.Name.unknownInterface, BusError.Name.timeout, BusError.Name.noReply, BusError.Name.disconnected,
    ]
    let present = Locked("")
    let application = try await serveTags {
      throw BusError(name: present.withLock { $0 }, message: "the cellar is closed")
    }
    for name in names {
      present.withLock { $0 = name }
      #expect(try await open() == .failed(HandOverFailure(.handlerFailed, "the cellar is closed", error: name)))
    }
    #expect(await received().count == 3 * names.count, "the handler is called once")
    await application.close()
  }

  @Test func `if a handler hangs, the outcome is unknown after the time-out`() async throws {
    let application = try await serveTags { try await hang() }
    #expect(try await open(timeout: .milliseconds(50)) == .unknown(HandOverDoubt(.unanswered, "0.05")))
    await application.close()
  }

  @Test(arguments: [true, false])
  func `a late reply decides the outcome, whether the handler accepts or refuses`(takes: Bool) async throws {
    let (answers, answer) = AsyncStream.makeStream(of: Void.self)
    let application = try await serveTags {
      for await _ in answers {}
      if !takes { throw BusError.failed("the kitchen is closed") }
    }
    let handOver = try await handOver(timeout: .milliseconds(50))
    #expect(handOver.outcome == .unknown(HandOverDoubt(.unanswered, "0.05")))
    let later = try #require(handOver.answer)
    #expect(await later.handOver(within: .milliseconds(1)).answer == later)
    answer.finish()
    #expect(await later.outcome == (takes ? .delivered : .failed(Self.closed)))
    #expect(await later.handOver(within: .seconds(60)).outcome == later.outcome)
    #expect(await received().count == 3, "the handler is called once")
    await application.close()
  }

  @Test func `if a handler does not reply within the limit, the outcome stays unknown`() async throws {
    let application = try await serveTags { try await hang() }
    let handOver = try await handOver(timeout: .milliseconds(1), limit: .seconds(1))
    #expect(await handOver.answer?.outcome == .unknown(HandOverDoubt(.unanswered, "1")))
    await application.close()
  }

  @Test func `if a handler leaves the bus without a reply, the outcome is unknown`() async throws {
    let application = try await serveTags { try await hang() }
    async let outcome = open()
    for await _ in calls { break }
    await application.close()
    #expect(try await outcome == .unknown(HandOverDoubt(.leftWithoutAnswer)))
  }

  @Test func `the bus starts the application, and one that exits at once has failed`() async throws {
    let directory = try TemporaryDirectory()
    let program = try directory.write(
      "#!/bin/sh\n: > '\(directory.file("started"))'; exit 1\n", to: "program", mode: 0o755)
    let service = try directory.write(
      "[D-BUS Service]\nName=org.example.My-Menu\nExec=\(program)\n", to: "org.example.My-Menu.service")
    #expect(symlink(service, "\(bus.servicesDirectory)/org.example.My-Menu.service") == 0)
    try await bus.restart()
    let failure = try #require(try await open().failure, "it was delivered")
    #expect(failure.code == .notStarted, "\(failure)")
    #expect(try readFile(directory.file("started")).isEmpty)
  }

  @Test func `an application with a broken D-Bus service file is started from its Exec`() async throws {
    let directory = try TemporaryDirectory()
    let service = try directory.write(
      "[D-BUS Service]\nName=org.example.My-Menu\nExec=/nonexistent/menu\n", to: "org.example.My-Menu.service")
    #expect(symlink(service, "\(bus.servicesDirectory)/org.example.My-Menu.service") == 0)
    try await bus.restart()
    let data = try DataDirectory()
    let file = try data.entry("org.example.My-Menu", ["Exec=true %u", "DBusActivatable=true"])
    let application = Application(
      desktopID: "org.example.My-Menu.desktop", name: "Menu", file: file, isDBusActivatable: true, origin: .system)
    let launcher = Launcher(connection: try await connect(), environment: data.environment, on: loop)
    #expect(await launcher.open(application, try URI("https://menu.example.com/"), message: []).outcome == .delivered)
  }

  @Test func `an application that the bus cannot start is started from its Exec`() async throws {
    let data = try DataDirectory()
    let file = try data.entry("org.example.My-Menu", ["Exec=true %u", "DBusActivatable=true"])
    let application = Application(
      desktopID: "org.example.My-Menu.desktop", name: "Menu", file: file, isDBusActivatable: true, origin: .system)
    let launcher = Launcher(connection: try await connect(), environment: data.environment, on: loop)
    #expect(await launcher.open(application, try URI("https://menu.example.com/"), message: []).outcome == .delivered)
    let failure = try #require(try await open().failure, "it was delivered without Exec")
    #expect(failure.code == .entryMissing, "\(failure)")
  }

  @Test func `if the bus stops before the reply, the outcome is unknown`() async throws {
    let application = try await serveTags { try await hang() }
    async let outcome = open()
    for await _ in calls { break }
    try await bus.stop()
    #expect(try await outcome == .unknown(HandOverDoubt(.busLost)))
    await application.close()
  }

  // MARK: Records without a link

  @Test func `a handler receives the message and an empty link`() async throws {
    let application = try await serveTags()
    let (message, outcome) = try await openCard(whole: true)
    #expect(outcome == .delivered)
    let values = await received()
    #expect(values.first?.asString?.isEmpty == true)
    #expect(values.dropFirst().first?.asBytes == message)
    await application.close()
  }

  @Test func `a default application receives the URI of a file`() async throws {
    let application = try await serve("org.freedesktop.Application", "Open", ["as", "a{sv}"])
    #expect(try await openCard(whole: false).outcome == .delivered)
    let uri = try #require(await received().first?.asStrings?.first)
    #expect(uri.hasPrefix("file:///") && uri.hasSuffix(".vcf"))
    #expect(try readFile(String(uri.dropFirst("file://".count))) == [1, 2, 3])
    await application.close()
  }

  @Test func `an application that does not handle tags gets no call without a link`() async throws {
    let application = try await serve("org.freedesktop.Application", "Open", ["as", "a{sv}"])
    #expect(try await openCard(whole: true).outcome.failure?.code == .handlerFailed)
    #expect(await received().isEmpty)
    await application.close()
  }
}
