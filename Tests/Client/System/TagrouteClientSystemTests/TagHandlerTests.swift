import Bus
import EventLoop
import NDEF
import Names
import TagrouteClient
import TestKit
import Testing

/// An app that uses the library. The test calls it like the agent and the desktop.
@Suite(.timeLimit(.minutes(5))) struct TagHandlerTests {
  private static let id = "org.example.My-Menu"
  private static let path: ObjectPath = "/org/example/My_Menu"
  private static let tap = "01234567-89ab-4cde-8f01-000000000001"
  private static let link = "https://menu.example.com/7"

  private let bus: PrivateBus
  private let client: Connection

  init() async throws {
    bus = try await PrivateBus.start()
    client = try await Connection.open(BusAddress(bus.address), on: EventLoop(label: "test-client"))
  }

  /// Starts the app, and returns when it has its name.
  private func serve(
    _ open: @escaping @Sendable (TagOpening) async throws -> Void
  ) async throws -> Task<Void, any Error> {
    let owners = try await client.owners(of: Self.id)
    let serving = Task { [bus] in try await TagHandler.serve(Self.id, on: BusAddress(bus.address), open) }
    for await case .some in owners { break }
    return serving
  }

  @Test func `the app learns that a tag was removed, and refuses an invalid id`() async throws {
    let owners = try await client.owners(of: Self.id)
    let (ids, continuation) = AsyncStream.makeStream(of: String.self)
    let serving = Task { [bus] in
      try await TagHandler.serve(Self.id, on: BusAddress(bus.address), removed: { continuation.yield($0) }) { _ in }
    }
    for await case .some in owners { break }
    func report(_ id: String) async throws(BusError) {
      _ = try await client.call(
        Self.id, Self.path, Names.Handler.interface, Names.Handler.tagRemoved, [.string(id), .dictionary([:])])
    }
    await #expect(throws: BusError.self) { try await report("x") }
    let id = "01234567-89ab-4cde-8f01-000000000001"
    try await report(id)
    let first = await ids.first { _ in true }
    #expect(first == id)
    serving.cancel()
  }

  private func handleTag(
    _ uri: String = TagHandlerTests.link, _ message: [UInt8], _ data: [String: Value] = [:]
  ) async throws(BusError) {
    _ = try await client.call(
      Self.id, Self.path, Names.Handler.interface, Names.Handler.handleTag,
      [.string(uri), .bytes(message), .dictionary(data)], timeout: .seconds(180))
  }

  private func application(_ member: String, _ arguments: [Value]) async throws(BusError) {
    _ = try await client.call(Self.id, Self.path, Names.Handler.applicationInterface, member, arguments)
  }

  @Test func `a tag opens the app with its message, and the reply comes when the app is done`() async throws {
    let (openings, opened) = AsyncStream.makeStream(of: TagOpening.self)
    let (taken, take) = AsyncStream.makeStream(of: Void.self)
    let (events, event) = AsyncStream.makeStream(of: String.self)
    let serving = try await serve { opening in
      opened.yield(opening)
      for await _ in taken {}
      event.yield("taken")
    }
    let message = NDEFMessage(
      records: NDEFMessage.uri(Self.link).records + [.wellKnown("T", payload: [2, 0x65, 0x6E])])
    let data: [String: Value] = [
      "activation-token": .string("t"), "desktop-startup-id": .string("t"), "tap-id": .string(Self.tap),
      "uid": .bytes([4, 0xA2]), "technology": .string("type-2"), "reader": .string("/readers/0"), "time": .uint64(7),
      "later": .byte(1),
    ]
    let call = Task {
      try await handleTag(Self.link, try message.encoded(), data)
      event.yield("answered")
    }
    #expect(
      await openings.first { _ in true }
        == TagOpening(
          uri: Self.link, message: message, activationToken: "t", tapID: Self.tap, uid: [4, 0xA2],
          technology: "type-2", reader: "/readers/0", time: 7))
    take.finish()
    try await call.value
    event.finish()
    #expect(await events.reduce(into: []) { $0.append($1) } == ["taken", "answered"])
    serving.cancel()
    await #expect(throws: CancellationError.self) { try await serving.value }
  }

  @Test func `without a tag the message has one empty record`() async throws {
    let (openings, opened) = AsyncStream.makeStream(of: TagOpening.self)
    let serving = try await serve { opened.yield($0) }
    let data = Value.dictionary(["desktop-startup-id": .string("t")])
    try await application("Activate", [data])
    try await application("Open", [.strings(["https://a.example/", "https://b.example/"]), data])
    opened.finish()
    #expect(
      await openings.reduce(into: []) { $0.append($1) } == [
        TagOpening(activationToken: "t"), TagOpening(uri: "https://a.example/", activationToken: "t"),
        TagOpening(uri: "https://b.example/", activationToken: "t"),
      ])
    #expect(TagOpening().message == .empty)
    serving.cancel()
  }

  @Test func `an invalid token, tap id or value of the tag is ignored, and an empty list of links is an opening`()
    async throws
  {
    let (openings, opened) = AsyncStream.makeStream(of: TagOpening.self)
    let serving = try await serve { opened.yield($0) }
    let message = try NDEFMessage.empty.encoded()
    let hostile: [Value] = [
      .string(""), .string("two words"), .string("a\u{1B}[2J"), .string(String(repeating: "a", count: 1025)), .byte(1),
    ]
    for value in hostile {
      let keys = ["activation-token", "tap-id", "uid", "technology", "reader", "time"]
      try await handleTag(Self.link, message, Dictionary(uniqueKeysWithValues: keys.map { ($0, value) }))
    }
    let long = Value.bytes([UInt8](repeating: 4, count: 11))
    try await handleTag(
      Self.link, message,
      ["activation-token": .string("a b"), "desktop-startup-id": .string("ab"), "uid": long, "reader": .string("0")])
    try await application("Open", [.strings([]), .dictionary(["activation-token": .string("t")])])
    opened.finish()
    let all = await openings.reduce(into: []) { $0.append($1) }
    #expect(all.count == hostile.count + 2)
    #expect(all.prefix(hostile.count).allSatisfy { $0 == TagOpening(uri: Self.link) })
    #expect(all.dropLast().last == TagOpening(uri: Self.link, activationToken: "ab"))
    #expect(all.last == TagOpening(activationToken: "t"))
    serving.cancel()
  }

  private struct Closed: Error, CustomStringConvertible {
    let description: String
  }

  @Test func `an error of the app is the reply, with a limited text`() async throws {
    let serving = try await serve { opening in
      if opening.uri == "bus:" { throw BusError(name: "org.example.Error.Closed", message: "closed") }
      if opening.uri == "absent:" { throw BusError(name: BusError.Name.serviceUnknown, message: "no cellar") }
      if opening.uri == "system:" { throw BusError(name: "System.Error.EIO", message: "no disk") }
      throw Closed(
        description: opening.uri == "long:" ? String(repeating: "x\0", count: 9999) : "the kitchen is closed")
    }
    let message = try NDEFMessage.empty.encoded()
    for (uri, name, words) in [
      (Self.link, Names.Errors.failed, "the kitchen is closed"), ("bus:", "org.example.Error.Closed", "closed"),
      ("absent:", Names.Errors.failed, "no cellar"), ("system:", Names.Errors.failed, "no disk"),
      ("long:", Names.Errors.failed, String(repeating: "x", count: 250)),
    ] {
      let error = await #expect(throws: BusError.self) { try await handleTag(uri, message) }
      #expect(error == BusError(name: name, message: words))
    }
    serving.cancel()
  }

  @Test func `an invalid call is refused, and the app is not opened`() async throws {
    let serving = try await serve { Issue.record("opened with \($0)") }
    let record: [UInt8] = [0xC5, 0, 0, 0x10, 0, 0]
    for (uri, message, name) in [
      (Self.link, [], BusError.Name.invalidArguments), (Self.link, [0xFF], BusError.Name.invalidArguments),
      (String(repeating: "a", count: 8193), [0xD0, 0, 0], BusError.Name.invalidArguments),
      (Self.link, record + [UInt8](repeating: 0, count: 1 << 20), BusError.Name.invalidArguments),
      (Self.link, [UInt8](repeating: 0, count: 2 << 20), BusError.Name.limitsExceeded),
    ] {
      let error = await #expect(throws: BusError.self) { try await handleTag(uri, message) }
      #expect(error?.name == name, "\(message.prefix(8)): \(String(describing: error))")
    }
    let many = Value.strings(Array(repeating: "https://a.example/", count: 65))
    await #expect(throws: BusError.self) { try await application("Open", [many, .dictionary([:])]) }
    await #expect(throws: BusError.self) {
      try await application("ActivateAction", [.string("quit"), .array(element: "v", []), .dictionary([:])])
    }
    serving.cancel()
  }

  @Test func `at most sixteen calls wait for the app`() async throws {
    let (taken, take) = AsyncStream.makeStream(of: Void.self)
    let serving = try await serve { _ in for await _ in taken {} }
    let message = try NDEFMessage.empty.encoded()
    let names = await withTaskGroup { group in
      for _ in 0..<17 {
        group.addTask {
          do throws(BusError) {
            try await handleTag(Self.link, message)
            return ""
          } catch { return error.name }
        }
      }
      var names: [String] = []
      for await name in group {
        names.append(name)
        take.finish()
      }
      return names
    }
    #expect(names.filter { $0 == BusError.Name.limitsExceeded }.count == 1)
    #expect(names.filter(\.isEmpty).count == 16)
    serving.cancel()
  }

  @Test func `a second instance fails, and an app ends with its bus`() async throws {
    let serving = try await serve { _ in }
    let second = await #expect(throws: BusError.self) {
      try await TagHandler.serve(Self.id, on: BusAddress(bus.address)) { _ in }
    }
    #expect(second?.name == "org.freedesktop.DBus.Error.NameExists")
    try await bus.stop()
    let end = await #expect(throws: BusError.self) { try await serving.value }
    #expect(end?.isDisconnected == true)
  }

  @Test func `a tag that an app has handled is answered even if the app then ends`() async throws {
    let (ends, end) = AsyncStream.makeStream(of: Void.self)
    let serving = try await serve { _ in end.finish() }
    let ending = Task {
      for await _ in ends {}
      serving.cancel()
    }
    try await handleTag(Self.link, try NDEFMessage.empty.encoded())
    await ending.value
    await #expect(throws: CancellationError.self) { try await serving.value }
  }

  /// A program without a message has inherited the variables from another one.
  @Test(arguments: [true, false]) func `a started program has the data of the tag in its environment`(
    hasMessage: Bool
  ) async throws {
    let directory = try TemporaryDirectory()
    let message = hasMessage ? try NDEFMessage.uri(Self.link).encoded() : []
    let file = try directory.write(message, to: "message")
    let (_, printed, _) = try await ChildProcess.run(
      "/bin/sh", ["-c", "exec \"$0\" \"$1\" < \"$2\"", try BuiltProducts.program("tag-handler"), Self.link, file],
      environment: ["TAGROUTE_UID": "04-A2-19-5A", "TAGROUTE_TECHNOLOGY": "type-2", "TAGROUTE_TIME": "7"])
    #expect(printed.contains("\ntag: 04-A2-19-5A type-2\n") == hasMessage, "\(printed)")
  }

  /// The example reads its standard input with the library.
  @Test(
    arguments: [
      ([0xD1, 1, 3, 0x55, 4, 0x61, 0x62], ["link: https://menu.example.com/7", "record 1: 1 U: .ab"]),
      ([], ["link: https://menu.example.com/7", "record 1: 0 : "]), ([0xD1, 1, 3, 0x55], nil),
      ([0xC5, 0, 0, 0x10, 0, 0] + [UInt8](repeating: 0, count: 1 << 20), nil),
    ] as [([UInt8], [String]?)])
  func `a started program gets the message on its standard input`(input: [UInt8], lines: [String]?) async throws {
    let directory = try TemporaryDirectory()
    let file = try directory.write(input, to: "message")
    let (status, printed, _) = try await ChildProcess.run(
      "/bin/sh",
      ["-c", "\"$0\" \"$1\" < \"$2\" 2> /dev/null", try BuiltProducts.program("tag-handler"), Self.link, file])
    #expect((status == .exited(0)) == (lines != nil))
    if let lines { #expect(printed.split(separator: "\n").map(String.init) == lines) }
  }
}
