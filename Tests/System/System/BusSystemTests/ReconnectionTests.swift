import EventLoop
import Glibc
import TestKit
import Testing

@testable import Bus

/// The dbus-daemon is killed and restarted.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct ReconnectionTests {
  @Test func `after a bus restart the name, objects and subscriptions are restored`() async throws {
    let echo = ExportedMethod("Echo", in: [Argument("text", "s")], out: [Argument("text", "s")]) { $1.arguments }
    let fixture = try await BusFixture.start(echo)
    let signals = try await fixture.client.signals(MatchRule(sender: BusFixture.name, member: "S"))
    var owners = try await fixture.client.owners(of: BusFixture.name).makeAsyncIterator()
    var states = fixture.client.states().makeAsyncIterator()
    let before = try #require(await fixture.server.uniqueName)
    #expect(await owners.next() == before)
    #expect(await states.next() == .connected(uniqueName: await fixture.client.uniqueName ?? ""))

    try await fixture.bus.stop()
    #expect(await states.next() == .disconnected)
    #expect(await owners.next() == .some(nil))
    // On the next bus another peer may have this name.
    #expect(await !fixture.client.isOwner(before, of: BusFixture.name, orFormer: true))
    let error = await busError { () async throws(BusError) in try await fixture.call("Echo", [.string("a")]) }
    #expect(error?.isDisconnected == true)

    try await fixture.bus.restart()
    guard case .connected? = await states.next() else { throw RigError("the client did not reconnect") }
    let owner = try await first(in: OwnerSequence(iterator: owners)) { $0 }
    #expect(owner == (await fixture.server.uniqueName))
    #expect(try await fixture.call("Echo", [.string("again")]) == [.string("again")])
    try await fixture.server.emit(path: "/", interface: "a.b", member: "S", [.byte(7)])
    var iterator = signals.makeAsyncIterator()
    let signal = try #require(await iterator.next())
    #expect(signal.arguments == [.byte(7)])
    #expect(signal.missed == 1)
  }

  @Test func `exports and subscriptions made without a bus work when it returns`() async throws {
    let fixture = try await BusFixture.start([])
    try await fixture.bus.stop()
    _ = try await first(in: fixture.client.states()) { $0 == .disconnected }
    let signals = try await fixture.client.signals(MatchRule(sender: BusFixture.name, member: "S"))
    var owners = try await fixture.client.owners(of: BusFixture.name).makeAsyncIterator()
    #expect(await owners.next() == .some(nil))
    try await fixture.server.export(
      [ExportedInterface(BusFixture.interface, methods: [ExportedMethod("Ping") { _, _ in [] }])], at: "/late")
    try await fixture.bus.restart()
    _ = try await first(in: OwnerSequence(iterator: owners)) { $0 }
    _ = try await fixture.client.call(BusFixture.name, "/late", BusFixture.interface, "Ping")
    try await fixture.server.emit(path: "/", interface: "a.b", member: "S")
    var iterator = signals.makeAsyncIterator()
    #expect(await iterator.next()?.member == "S")
  }

  @Test func `a released name is not requested again`() async throws {
    let fixture = try await BusFixture.start([])
    _ = try await fixture.server.requestName("org.example.Second")
    try await fixture.server.releaseName("org.example.Second")
    try await fixture.bus.restart()
    var owners = try await fixture.client.owners(of: BusFixture.name).makeAsyncIterator()
    while await owners.next() == .some(nil) {}
    let reply = try await fixture.client.call(
      Bus.name, Bus.path, Bus.interface, "NameHasOwner", [.string("org.example.Second")])
    #expect(reply == [.boolean(false)])
  }

  @Test func `opening fails if no bus listens or the address is invalid`() async throws {
    let directory = try TemporaryDirectory()
    for address in ["unix:path=\(directory.file("nobody"))", "nonsense", "", "unix:path=\u{0}", "unix:abstract=%zz"] {
      let error = await busError { () async throws(BusError) in
        try await Connection.open(BusAddress(address), on: EventLoop(label: "test"))
      }
      #expect(error != nil, "\(address)")
    }
  }

  /// Starts to open a connection to a bus that does not reply. Returns the attempt and the socket of the bus.
  private func opening() async throws -> (Task<BusError?, Never>, FileDescriptor) {
    let directory = try TemporaryDirectory()
    let listener = try SilentListener(directory.file("bus"))
    let task = Task {
      await busError { () async throws(BusError) in
        try await Connection.open(.socket(directory.file("bus")), on: EventLoop(label: "test"))
      }
    }
    return (task, try await listener.accept())
  }

  @Test func `opening fails if the bus hangs up`() async throws {
    let (task, peer) = try await opening()
    shutdown(peer.rawValue, Int32(SHUT_RDWR))
    #expect(await task.value?.isDisconnected == true)
  }

  @Test func `opening can be cancelled while the bus does not reply`() async throws {
    let (task, peer) = try await opening()
    task.cancel()
    #expect(await task.value?.name == BusError.Name.cancelled)
    withExtendedLifetime(peer) {}
  }
}

/// Continues with an iterator that was used before.
private struct OwnerSequence: AsyncSequence {
  let iterator: AsyncStream<String?>.Iterator
  func makeAsyncIterator() -> AsyncStream<String?>.Iterator { iterator }
}

/// A socket that accepts a connection and sends no data.
private final class SilentListener: Sendable {
  private let listener: FileDescriptor

  init(_ path: String) throws {
    listener = FileDescriptor(owning: socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0))
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
    let bound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener.rawValue, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard bound == 0, listen(listener.rawValue, 1) == 0 else { throw SystemError("listen") }
  }

  func accept() async throws -> FileDescriptor {
    try await DedicatedThread.run { [listener] in FileDescriptor(owning: Glibc.accept(listener.rawValue, nil, nil)) }
  }
}

@Suite(.timeLimit(.minutes(5))) struct ReleaseTests {
  @Test func `a released connection leaves the bus and ends its streams`() async throws {
    let bus = try await PrivateBus.start()
    let observer = try await Connection.open(BusAddress(bus.address), on: EventLoop(label: "observer"))
    var connection: Connection? = try await Connection.open(BusAddress(bus.address), on: EventLoop(label: "test"))
    try await connection?.export([ExportedInterface("a.b", methods: [ExportedMethod("M") { _, _ in [] }])], at: "/")
    let signals = try await connection?.signals(MatchRule(member: "S"))
    let states = connection?.states()
    let name = try #require(await connection?.uniqueName)
    var owners = try await observer.owners(of: name).makeAsyncIterator()
    #expect(await owners.next() == name)
    weak let weakConnection = connection
    connection = nil
    #expect(await owners.next() == .some(nil))
    #expect(weakConnection == nil)
    var count = 0
    if let signals { for await _ in signals { count += 1 } }
    if let states { for await _ in states { count += 1 } }
    #expect(count == 2)
    await observer.close()
    try await bus.stop()
  }
}
