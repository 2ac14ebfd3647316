import EventLoop
import TestKit
import Testing

@testable import Bus

/// A private bus with a server and a client. Each has its own loop, like two processes.
struct BusFixture {
  static let name = "org.example.Server"
  static let path: ObjectPath = "/org/example/Server"
  static let interface = "org.example.Server"

  /// The limits of a reply.
  static let large = CallLimits(values: DecodingLimits.reply.values, bytes: DecodingLimits.reply.bytes)

  let bus: PrivateBus
  let server: Connection
  let client: Connection

  var address: BusAddress { BusAddress(bus.address) }

  static func start(_ interfaces: [ExportedInterface], objectManager: Bool = false) async throws -> BusFixture {
    let bus = try await PrivateBus.start()
    let server = try await Connection.open(BusAddress(bus.address), on: EventLoop(label: "server"))
    let client = try await Connection.open(BusAddress(bus.address), on: EventLoop(label: "client"))
    try await server.export(interfaces, at: path, objectManager: objectManager)
    _ = try await server.requestName(name)
    let fixture = BusFixture(bus: bus, server: server, client: client)
    atEndOfTest { try await fixture.stop() }
    return fixture
  }

  static func start(_ methods: ExportedMethod...) async throws -> BusFixture {
    try await start([ExportedInterface(interface, methods: methods, limits: large)])
  }

  func call(_ member: String, _ arguments: [Value] = [], timeout: Duration = .seconds(25)) async throws(BusError)
    -> [Value]
  {
    try await client.call(Self.name, Self.path, Self.interface, member, arguments, timeout: timeout)
  }

  func stop() async throws {
    await client.close()
    await server.close()
    try await bus.stop()
  }

  func busctl(_ arguments: String...) async throws -> String {
    let program = try BuiltProducts.systemProgram("busctl", package: "systemd")
    let result = try await ChildProcess.run(program, ["--address=\(bus.address)"] + arguments)
    guard result.status == .exited(0) else { throw RigError(result.log.joined(separator: "\n")) }
    return result.output
  }

  func gdbus(_ arguments: String...) async throws -> String {
    let program = try BuiltProducts.systemProgram("gdbus", package: "libglib2.0-bin")
    let result = try await ChildProcess.run(program, [arguments[0], "--address", bus.address] + arguments.dropFirst())
    guard result.status == .exited(0) else { throw RigError(result.log.joined(separator: "\n")) }
    return result.output
  }
}

/// A gate that handlers wait at until the test opens it.
actor Gate {
  private var isOpen = false
  private var arrivals = 0
  private var waiting: [CheckedContinuation<Void, Never>] = []
  private var observers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

  func pass() async {
    arrivals += 1
    for observer in observers where observer.count <= arrivals { observer.continuation.resume() }
    observers.removeAll { $0.count <= arrivals }
    guard !isOpen else { return }
    await withCheckedContinuation { waiting.append($0) }
  }

  func open() {
    isOpen = true
    for continuation in waiting { continuation.resume() }
    waiting = []
  }

  /// Waits until `count` callers have arrived at the gate.
  func arrived(_ count: Int = 1) async {
    guard arrivals < count else { return }
    await withCheckedContinuation { observers.append((count, $0)) }
  }
}

func busError(_ body: () async throws(BusError) -> some Any) async -> BusError? {
  do throws(BusError) {
    _ = try await body()
    return nil
  } catch {
    return error
  }
}

/// Returns the first result of `body` that is not nil.
func first<S: AsyncSequence, T>(in sequence: S, _ body: (S.Element) -> T?) async throws -> T? {
  for try await element in sequence {
    if let found = body(element) { return found }
  }
  return nil
}
