import EventLoop
import Glibc
import TestKit
import Testing

@testable import Bus

/// A pipe shows when the last copy of one of its ends is closed. Other open descriptors of the process do not matter.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct FileDescriptorTests {
  private func pipe() throws -> (read: FileDescriptor, write: FileDescriptor) {
    var ends: [Int32] = [-1, -1]
    guard Glibc.pipe(&ends) == 0 else { throw SystemError("make a pipe") }
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    return (FileDescriptor(owning: ends[0]), FileDescriptor(owning: ends[1]))
  }

  @Test func `the end of a pipe is closed with its last copy`() async throws {
    let holder = Holder()
    let fixture = try await BusFixture.start(
      ExportedMethod("Give", out: [Argument("ends", "ah")]) { _, _ in
        .init([.array(element: "h", await holder.all.map { .unixFD($0) })])
      })
    let reader = try await takeWriter(of: holder, from: fixture)
    await holder.drop()
    try await fixture.stop()
    await hangUp(of: reader)
  }

  /// A separate function, so that it releases the client's copies when it returns.
  private func takeWriter(of holder: Holder, from fixture: BusFixture) async throws -> FileDescriptor {
    let (reader, writer) = try pipe()
    await holder.keep(writer)
    let copy = try #require(try await fixture.call("Give").first?.asArray?.first?.asUnixFD)
    #expect(copy.rawValue != writer.rawValue)
    #expect(fcntl(copy.rawValue, F_GETFD) & FD_CLOEXEC != 0)
    var byte: UInt8 = 42
    #expect(write(copy.rawValue, &byte, 1) == 1)
    byte = 0
    #expect(read(reader.rawValue, &byte, 1) == 1)
    #expect(byte == 42)
    // The server, the received copy and the original still hold the writing end.
    #expect(read(reader.rawValue, &byte, 1) == -1)
    withExtendedLifetime((writer, copy)) {}
    return reader
  }

  /// Waits until no process holds the writing end.
  private func hangUp(of reader: FileDescriptor) async {
    let loop = EventLoop(label: "test")
    await withCheckedContinuation { continuation in
      let watcher = HangUpWatcher(continuation)
      loop.execute { watcher.start(reader, loop) }
    }
  }

  /// Even a method with a descriptor argument gets none. Tagroute has no such method.
  @Test(arguments: ["Take", "Keep", "Absent"])
  func `a call that carries a descriptor is refused, and the descriptor is closed`(member: String) async throws {
    let holder = Holder()
    let fixture = try await BusFixture.start(
      ExportedMethod("Take", in: [Argument("text", "s")]) { _, _ in [] },
      ExportedMethod("Keep", in: [Argument("end", "h")]) { _, call in
        await holder.keep(call.arguments[0].asUnixFD)
        return []
      })
    let reader = try await sendWriter(to: fixture, member)
    #expect(await holder.all.isEmpty)
    await hangUp(of: reader)
  }

  private func sendWriter(to fixture: BusFixture, _ member: String) async throws -> FileDescriptor {
    let (reader, writer) = try pipe()
    let error = await busError { () async throws(BusError) in try await fixture.call(member, [.unixFD(writer)]) }
    #expect(error?.name == BusError.Name.invalidArguments)
    return reader
  }

  @Test func `a signal that carries a descriptor is dropped, and the descriptor is closed`() async throws {
    let fixture = try await BusFixture.start()
    let signals = try await fixture.server.signals(MatchRule(interface: BusFixture.interface))
    let reader = try await emitWriter(from: fixture)
    await hangUp(of: reader)
    try await fixture.client.emit(path: BusFixture.path, interface: BusFixture.interface, member: "Next")
    #expect(try await first(in: signals) { $0.member } == "Next")
  }

  private func emitWriter(from fixture: BusFixture) async throws -> FileDescriptor {
    let (reader, writer) = try pipe()
    try await fixture.client.emit(
      path: BusFixture.path, interface: BusFixture.interface, member: "Signal", [.unixFD(writer)])
    return reader
  }
}

private actor Holder {
  private(set) var all: [FileDescriptor] = []
  func keep(_ descriptor: FileDescriptor?) { descriptor.map { all.append($0) } }
  func drop() { all = [] }
}

/// Resumes when the other end of a pipe is closed.
private final class HangUpWatcher: @unchecked Sendable {
  // Used only on the loop.
  private var watch: DescriptorWatch?
  private var continuation: CheckedContinuation<Void, Never>?

  init(_ continuation: CheckedContinuation<Void, Never>) { self.continuation = continuation }

  func start(_ descriptor: FileDescriptor, _ loop: EventLoop) {
    watch = try? DescriptorWatch(descriptor, on: loop) {
      var byte: UInt8 = 0
      guard read(descriptor.rawValue, &byte, 1) == 0 else { return }
      self.watch = nil
      self.continuation?.resume()
      self.continuation = nil
    }
  }
}

/// A bus that does not limit the descriptors of a message, like dbus-broker. libdbus cannot send such a message, so
/// GDBus acts as the bus.
@Suite(.timeLimit(.minutes(5))) struct DescriptorLimitTests {
  private static let bus = """
    import os, sys
    from gi.repository import Gio, GLib

    HELLO = "<node><interface name='org.freedesktop.DBus'><method name='Hello'><arg type='s' direction='out'/></method></interface></node>"

    def answered(connection, result):
        print("reply:", connection.send_message_with_reply_finish(result).get_error_name(), flush=True)

    def hello(connection, sender, path, interface, member, arguments, invocation):
        invocation.return_value(GLib.Variant("(s)", (":1.1",)))
        call = Gio.DBusMessage.new_method_call(None, "/", "org.example.Server", "Take")
        call.set_sender(":1.2")
        descriptors = Gio.UnixFDList.new()
        for _ in range(17): descriptors.append(0)
        call.set_unix_fd_list(descriptors)
        call.set_body(GLib.Variant("(ah)", (list(range(17)),)))
        connection.send_message_with_reply(call, Gio.DBusSendMessageFlags.NONE, -1, None, answered)

    connections = []

    def connected(server, connection):
        connections.append(connection)
        connection.connect("closed", lambda *_: os._exit(1))
        node = Gio.DBusNodeInfo.new_for_xml(HELLO)
        connection.register_object("/org/freedesktop/DBus", node.interfaces[0], hello, None, None)
        return True

    server = Gio.DBusServer.new_sync("unix:path=" + sys.argv[1], Gio.DBusServerFlags.NONE, Gio.dbus_generate_guid(), None, None)
    server.connect("new-connection", connected)
    server.start()
    print("ready", flush=True)
    GLib.MainLoop().run()
    """

  @Test func `a call with 17 descriptors is refused, and the connection stays open`() async throws {
    let directory = try TemporaryDirectory()
    // Only Debian's Python has python3-gi.
    let bus = try ChildProcess(
      "/usr/bin/python3", ["-c", Self.bus, directory.file("bus")], environment: ["PATH": "/usr/bin:/bin"])
    try await bus.line(containing: "ready")
    let connection = try await Connection.open(
      BusAddress("unix:path=\(directory.file("bus"))"), on: EventLoop(label: "test"))
    try await bus.line(containing: "reply: \(BusError.Name.invalidArguments)")
    await connection.close()
  }
}
