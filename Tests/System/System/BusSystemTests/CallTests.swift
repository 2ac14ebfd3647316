import EventLoop
import TestKit
import Testing

@testable import Bus
@testable import BusTests

@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct CallTests {
  private let gate = Gate()

  private static let ping = ExportedMethod("Ping") { _, _ in [] }

  private static func slow(_ gate: Gate) -> ExportedMethod {
    ExportedMethod("Slow", out: [Argument("done", "b")]) { _, _ in
      await gate.pass()
      return [.boolean(true)]
    }
  }

  /// An object with a method that does not wait, and one that may wait.
  private actor Recorder {
    static let path: ObjectPath = "/org/example/Recorder"
    private let server: Connection
    private(set) var calls: [Int32] = []
    nonisolated var unownedExecutor: UnownedSerialExecutor { server.loop.asUnownedSerialExecutor() }

    init(_ server: Connection) { self.server = server }

    private func record(_ call: IncomingCall) { calls.append(call.arguments.first?.asInt32 ?? -1) }

    private func recordLater(_ call: IncomingCall) async throws { record(call) }

    func export() throws {
      let number = [Argument("number", "i")]
      let interface = ExportedInterface(
        BusFixture.interface,
        methods: [
          ExportedMethod("Record", in: number) { [weak self] _, call in
            await self?.record(call)
            return []
          },
          ExportedMethod("RecordLater", in: number) { [weak self] _, call in
            try await self?.recordLater(call)
            return []
          },
        ])
      try server.assumeIsolated { try $0.export([interface], at: Self.path) }
    }
  }

  /// Sends two calls without waiting in between. On the loop of the client, the tasks send in the order of their creation.
  private actor Sender {
    private let fixture: BusFixture
    nonisolated var unownedExecutor: UnownedSerialExecutor { fixture.client.loop.asUnownedSerialExecutor() }

    init(_ fixture: BusFixture) { self.fixture = fixture }

    private func call(_ member: String, _ number: Int32) async throws {
      _ = try await fixture.client.call(BusFixture.name, Recorder.path, BusFixture.interface, member, [.int32(number)])
    }

    func sendTwo() async throws {
      let first = Task { try await call("Record", 1) }
      let second = Task { try await call("RecordLater", 2) }
      try await first.value
      try await second.value
    }
  }

  /// A program may close a notification and show another one without waiting in between.
  @Test func `the calls of one sender start in the order of their arrival`() async throws {
    let fixture = try await BusFixture.start()
    let recorder = Recorder(fixture.server)
    try await recorder.export()
    let sender = Sender(fixture)
    for _ in 0..<1000 { try await sender.sendTwo() }
    #expect(await recorder.calls == Array(repeating: [1, 2], count: 1000).flatMap(\.self))
  }

  @Test func `a call without a reply times out, and a late reply does not disturb later calls`() async throws {
    let fixture = try await BusFixture.start(Self.slow(gate), Self.ping)
    let error = await busError { () async throws(BusError) in
      try await fixture.call("Slow", timeout: .milliseconds(50))
    }
    #expect(error?.isTimeout == true)
    await gate.open()
    // The late reply arrives before the reply to the next call, and is ignored.
    #expect(try await fixture.call("Slow") == [.boolean(true)])
    #expect(try await fixture.call("Ping") == [])
    #expect(await fixture.client.pending.isEmpty)
  }

  @Test func `a cancelled task stops waiting for its reply at once`() async throws {
    let fixture = try await BusFixture.start(Self.slow(gate), Self.ping)
    let task = Task { await busError { () async throws(BusError) in try await fixture.call("Slow") } }
    await gate.arrived()
    task.cancel()
    #expect(await task.value?.name == BusError.Name.cancelled)
    #expect(await fixture.client.pending.isEmpty)
    await gate.open()
    #expect(try await fixture.call("Slow") == [.boolean(true)])
  }

  @Test func `a task that is already cancelled sends no call`() async throws {
    let fixture = try await BusFixture.start(Self.slow(gate))
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return await busError { () async throws(BusError) in try await fixture.call("Slow") }
    }
    #expect(await task.value?.name == BusError.Name.cancelled)
    #expect(await fixture.server.incoming.isEmpty)
  }

  @Test func `a pending call fails when the bus stops`() async throws {
    let fixture = try await BusFixture.start(Self.slow(gate))
    let task = Task { await busError { () async throws(BusError) in try await fixture.call("Slow") } }
    await gate.arrived()
    try await fixture.bus.stop()
    #expect(await task.value?.isDisconnected == true)
    // The server drops its reply, because its connection is gone.
    await gate.open()
  }

  @Test func `pending and later calls fail when the connection is closed`() async throws {
    let fixture = try await BusFixture.start(Self.slow(gate))
    let task = Task { await busError { () async throws(BusError) in try await fixture.call("Slow") } }
    await gate.arrived()
    await fixture.client.close()
    #expect(await task.value?.isDisconnected == true)
    let later = await busError { () async throws(BusError) in try await fixture.call("Slow") }
    #expect(later?.isDisconnected == true)
    await gate.open()
  }

  @Test func `the errors of a handler reach the caller, but details of foreign errors do not`() async throws {
    let fixture = try await BusFixture.start(
      ExportedMethod("Refuse") { _, _ in throw BusError(name: "org.example.Error.No", message: "because") },
      ExportedMethod("BadName") { _, _ in throw BusError(name: "no name", message: "a\u{0}b") },
      ExportedMethod("Foreign") { _, _ in throw SystemError("open a secret file", errno: 2) },
      ExportedMethod("Wrong", out: [Argument("text", "s")]) { _, _ in [.int32(1)] },
      ExportedMethod("Unsendable", out: [Argument("text", "s")]) { _, _ in [.string("\u{0}")] },
      ExportedMethod("Typed", in: [Argument("text", "s")]) { _, _ in [] })
    func name(_ member: String, _ arguments: [Value] = []) async -> BusError? {
      await busError { () async throws(BusError) in try await fixture.call(member, arguments) }
    }
    #expect(await name("Refuse") == BusError(name: "org.example.Error.No", message: "because"))
    #expect(await name("BadName") == BusError(name: BusError.Name.failed, message: "ab"))
    #expect(await name("Foreign")?.message.contains("secret") == false)
    #expect(await name("Wrong")?.name == BusError.Name.failed)
    #expect(await name("Unsendable")?.name == BusError.Name.invalidArguments)
    #expect(await name("Typed", [.int32(1)])?.name == BusError.Name.invalidArguments)
    #expect(await name("Typed")?.name == BusError.Name.invalidArguments)
    #expect(await name("Absent")?.name == BusError.Name.unknownMethod)
  }

  @Test func `the error says whether the object, interface, method or peer is missing`() async throws {
    let fixture = try await BusFixture.start(Self.ping)
    func name(_ destination: String, _ path: ObjectPath, _ interface: String) async -> String? {
      await busError { () async throws(BusError) in
        try await fixture.client.call(destination, path, interface, "Ping", autoStart: false)
      }?.name
    }
    #expect(await name(BusFixture.name, "/nowhere", BusFixture.interface) == BusError.Name.unknownObject)
    #expect(await name(BusFixture.name, "/org", BusFixture.interface) == BusError.Name.unknownMethod)
    #expect(await name(BusFixture.name, BusFixture.path, "org.example.Other") == BusError.Name.unknownInterface)
    #expect(await name("org.example.Nobody", "/", "org.example.A") == BusError.Name.nameHasNoOwner)
    #expect(await name(":1.9999", "/", "org.example.A") == BusError.Name.nameHasNoOwner)
    // Every connection answers Ping, on every path.
    #expect(await name(BusFixture.name, "/nowhere", "org.freedesktop.DBus.Peer") == nil)
  }

  @Test(arguments: WireCheckTests.hostile.indices)
  func `a value that cannot be sent is an error, and the connection stays open`(_ index: Int) async throws {
    let connection = try await Self.shared.value.client
    let error = await busError { () async throws(BusError) in
      try await connection.call(Bus.name, Bus.path, Bus.interface, "NameHasOwner", [WireCheckTests.hostile[index]])
    }
    #expect(error?.message.hasPrefix("not sent") == true)
    let names = try await connection.call(Bus.name, Bus.path, Bus.interface, "NameHasOwner", [.string(Bus.name)])
    #expect(names == [.boolean(true)])
  }

  // Detached, because it does not end with the first test that uses it.
  private static let shared = Task.detached { try await BusFixture.start(ping) }

  @Test func `names that cannot be sent are errors`() async throws {
    let fixture = try await BusFixture.start(Self.ping)
    for (destination, interface, member) in [
      ("\u{0}", "a.b", "C"), ("a.b", "a.b\u{0}", "C"), ("a.b", "a.b", "C\u{0}"), ("a.b", "a.b", "C.D"),
      ("", "a.b", "C"),
    ] {
      let error = await busError { () async throws(BusError) in
        try await fixture.client.call(destination, "/", interface, member)
      }
      #expect(error?.message.hasPrefix("not sent") == true)
    }
  }

  @Test func `calls start in order of arrival and run concurrently`() async throws {
    let order = Order()
    let fixture = try await BusFixture.start(
      ExportedMethod("Note", in: [Argument("number", "u")]) { _, call in
        await order.add(call.arguments[0].asUInt32 ?? 0)
        await gate.pass()
        return []
      })
    try await fixture.client.sendWithoutWaiting("Note", 0..<100)
    await gate.arrived(100)
    #expect(await order.numbers == Array(0..<100))
    await gate.open()
  }

  @Test func `one peer cannot have more unanswered calls than its limit`() async throws {
    let fixture = try await BusFixture.start(Self.slow(gate))
    try await withThrowingTaskGroup(of: BusError?.self) { group in
      for _ in 0...CallAdmission.limitOfSender {
        group.addTask { await busError { () async throws(BusError) in try await fixture.call("Slow") } }
      }
      #expect(try await group.next()??.name == BusError.Name.limitsExceeded)
      await gate.open()
      for try await error in group { #expect(error == nil) }
    }
    #expect(await fixture.server.incoming.isEmpty)
  }
}

extension Connection {
  /// Sends calls in a fixed order. Calls from several tasks have no order.
  fileprivate func sendWithoutWaiting(_ member: String, _ numbers: Range<UInt32>) throws {
    for number in numbers {
      let message = try Message.call(
        BusFixture.name, BusFixture.path, BusFixture.interface, member, body: [.uint32(number)])
      _ = try native?.send(message)
    }
  }
}

private actor Order {
  private(set) var numbers: [UInt32] = []
  func add(_ number: UInt32) { numbers.append(number) }
}
