import EventLoop
import TestKit
import Testing

@testable import Bus

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
