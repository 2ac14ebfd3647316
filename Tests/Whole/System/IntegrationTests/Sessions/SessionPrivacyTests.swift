import Bus
import EventLoop
import Glibc
import Names
import TagrouteClient
import TestKit
import Testing

/// Another user's process on the same bus can neither observe nor use a session, even if polkit allows that user
/// everything.
@Suite(
  StopsAtEnd(), .timeLimit(.minutes(5)), .enabled(if: getuid() == 0, "needs root to run a process as another user"))
struct SessionPrivacyTests {
  private static let nobody = "65534"

  private func busctl(_ desktop: Desktop, _ arguments: [String]) async throws -> (ok: Bool, text: String) {
    let program = try BuiltProducts.systemProgram("busctl", package: "systemd")
    let result = try await ChildProcess.run(
      "/usr/bin/setpriv",
      ["--reuid=\(Self.nobody)", "--clear-groups", program, "--address=\(desktop.installation.systemBus.address)"]
        + arguments)
    return (result.status == .exited(0), result.log.joined(separator: "\n"))
  }

  private func busctl(_ desktop: Desktop, _ arguments: String...) async throws -> (ok: Bool, text: String) {
    try await busctl(desktop, arguments)
  }

  /// The method calls of another user, by method name. The arguments are a signature and values, as `busctl` takes
  /// them.
  private static let managerCalls: [String: (arguments: [String], isAllowed: Bool)] = [
    // Allowed: an agent for the user's own taps, an inhibitor, and a place in the queue.
    "RegisterAgent": (["oa{sv}", "/agent", "0"], true), "Inhibit": (["ss", "a", "b"], true),
    "ListInhibitors": ([], true), "StartReaderSession": (["a{sv}", "0"], true), "ReadingAvailable": ([], true),
    "ReportConditions": (["a{sb}", "1", "locked", "true"], false), "CancelReaderSession": (["o", "SESSION"], false),
    "IdentifyReaders": (["a{sv}", "0"], false),
    // The client of the active session keeps the reader, and its bytes for itself.
    "RecordReader": (["a{sv}", "0"], false),
    "InhibitWithOptions": (["ssa{sv}", "a", "b", "1", "release-reader", "b", "true"], false),
  ]
  private static let sessionCalls: [String: [String]] = [
    "Invalidate": ["s", ""], "RestartPolling": [], "RestartPollingWithOptions": ["a{sv}", "0"],
  ]
  private static let tagCalls: [String: [String]] = [
    "QueryNDEF": [], "ReadNDEF": [], "WriteNDEF": ["ay", "0"], "Lock": [], "Transceive": ["ayu", "2", "48", "0", "0"],
  ]

  /// The names of the documented members of a kind. Other tests compare the documentation with the running daemon.
  private func members(_ kind: String, of interface: String, _ word: String = "") throws -> Set<String> {
    Set(
      try InterfaceDescription(documented: interface).members.compactMap { line in
        guard line.hasPrefix("\(kind) "), word.isEmpty || line.contains(word) else { return nil }
        return line.dropFirst(kind.count + 1).split(separator: "(").first.map(String.init)
      })
  }

  /// Starts a program of another user that prints all signals it receives. The bus delivers no messages for other
  /// clients to it.
  private func ear(_ address: String) async throws -> ChildProcess {
    let become = ["--reuid=\(Self.nobody)", "--clear-groups"]
    let ear = try ChildProcess(
      "/usr/bin/setpriv",
      become + [
        try BuiltProducts.systemProgram("gdbus", package: "libglib2.0-bin"), "monitor", "--address", address, "--dest",
        Names.Daemon.busName,
      ])
    try await ear.line(containing: "is owned by")
    // The bus rejects a monitor and then, as dbus-monitor tries next, a match rule that eavesdrops.
    let eavesdropper = try await ChildProcess.run(
      "/usr/bin/setpriv",
      become + [
        try BuiltProducts.systemProgram("dbus-monitor", package: "dbus-bin"), "--address", address, "eavesdrop=true",
      ])
    #expect(eavesdropper.status == .exited(1))
    #expect(eavesdropper.log.contains { $0.contains("rejected attempt to call BecomeMonitor") })
    #expect(eavesdropper.log.contains { $0.contains("rejected attempt to call AddMatch") }, "\(eavesdropper.log)")
    return ear
  }

  @Test func `another user can neither observe nor use a session`() async throws {
    let desktop = try await Desktop()
    _ = try await desktop.startPolkit()
    try await desktop.startScanning()
    let address = desktop.installation.systemBus.address
    // The folder of the test's bus is private, but the folder of a real bus is public.
    let socket = address.dropFirst("unix:path=".count)
    chmod(String(socket.prefix(upTo: socket.lastIndex(of: "/") ?? socket.endIndex)), 0o755)
    let ear = try await ear(address)

    let open = try await desktop.program().start(ReaderSessionOptions(message: "s3cret words", access: .write))
    try await desktop.within("the session") { try await open.activated() }
    try await desktop.place(Tag(1))
    let tag = try await desktop.within("a tag") { try await open.tag() }
    let message = try Tag(2).message
    try await tag.writeNDEF(message)
    #expect(try await tag.readNDEF() == message)
    try await reach(nothingOf: open.session.path.string, tag.path.string, desktop)
    // None of these attempts changed the session.
    #expect(try await tag.readNDEF() == message)
    #expect(try await tag.queryNDEF().status == .readWrite)
    try await open.session.invalidate()
    #expect(try await open.end().reason == .invalidated)
    try await desktop.scanning()

    // MessageRead is the only signal with the content of a tag.
    let first = try await desktop.program().start(ReaderSessionOptions(endsAfterFirstRead: true))
    let read = try await desktop.within("the message") {
      var read: [UInt8]?
      while let event = await first.next() {
        if case .messageRead(let bytes, _) = event { read = bytes }
      }
      return read
    }
    #expect(read == message)
    try await desktop.scanning()
    // The last event that the listener prints comes after all others.
    try await desktop.daemon.signal(SIGTERM)
    try await ear.line(containing: "does not have an owner")

    // The listener saw the reader, as every user may, but no part of the session.
    let secret = message.map { String($0, radix: 16) }
    let bytes = secret.map { ($0.count < 2 ? "0" : "") + $0 }
    ear.signal(SIGTERM)
    try await ear.exit()
    let heard = await ear.log().joined(separator: "\n")
    #expect(heard.contains("'in-session'"))
    for secret in [
      "s3cret", "Tagroute1/sessions", "TagDetected", "Activated", "MessageRead", "TagRemoved", "menu.example.com",
      "Tagroute1.ReaderSession", "Tagroute1.Tag", bytes.joined(separator: " "),
      bytes.map { "0x\($0)" }.joined(separator: ", "),
    ] {
      #expect(!heard.contains(secret), "\(secret)")
    }
  }

  private func reach(nothingOf session: String, _ tag: String, _ desktop: Desktop) async throws {
    let daemon = Names.Daemon.busName
    #expect(Set(Self.managerCalls.keys) == (try members("method", of: Names.Daemon.managerInterface)))
    for (member, call) in Self.managerCalls.sorted(by: { $0.key < $1.key }) {
      let (ok, text) = try await busctl(
        desktop,
        ["call", daemon, Names.Daemon.path, Names.Daemon.managerInterface, member]
          + call.arguments.map { $0 == "SESSION" ? session : $0 })
      #expect(ok == call.isAllowed, "\(member): \(text)")
      #expect(!text.contains("s3cret") && !text.contains(session), "\(member): \(text)")
    }
    for (path, interface, calls) in [
      (session, Names.Daemon.readerSessionInterface, Self.sessionCalls),
      (tag, Names.Daemon.tagInterface, Self.tagCalls),
    ] {
      #expect(Set(calls.keys) == (try members("method", of: interface)))
      for (member, arguments) in calls {
        let (ok, text) = try await busctl(desktop, ["call", daemon, path, interface, member] + arguments)
        #expect(!ok && text.contains("no object"), "\(member): \(text)")
      }
      for member in try members("property", of: interface) {
        let (ok, text) = try await busctl(desktop, "get-property", daemon, path, interface, member)
        #expect(!ok, "\(member): \(text)")
      }
    }
    // Every user may read the properties of a reader, but not change them.
    #expect(try members("method", of: Names.Daemon.readerInterface).isEmpty)
    let properties = "org.freedesktop.DBus.Properties"
    let values = ["Message": ["s", "mine"], "Enabled": ["b", "false"]]
    var writable: Set<String> = []
    for (path, interface) in [
      (Names.Daemon.path, Names.Daemon.managerInterface), (session, Names.Daemon.readerSessionInterface),
      (tag, Names.Daemon.tagInterface), ("\(Names.Daemon.readersPath)/0", Names.Daemon.readerInterface),
    ] {
      for member in try members("property", of: interface, "readwrite") {
        writable.insert(member)
        let value = try #require(values[member], "\(interface).\(member) is writable but not tested here")
        let (ok, text) = try await busctl(desktop, ["set-property", daemon, path, interface, member] + value)
        #expect(!ok, "\(member): \(text)")
      }
    }
    #expect(writable == Set(values.keys))
    for path in [session, tag, Names.Daemon.readerSessionsPath] {
      let (ok, text) = try await busctl(desktop, "introspect", daemon, path)
      #expect(!ok, "\(text)")
      let all = try await busctl(desktop, "call", daemon, path, properties, "GetAll", "s", "")
      #expect(!all.ok, "\(all.text)")
    }
    for arguments in [
      ["tree", daemon],
      ["call", daemon, Names.Daemon.path, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects"],
    ] {
      let (ok, text) = try await busctl(desktop, arguments)
      #expect(
        ok && text.contains("readers") && !text.contains("Tagroute1/sessions") && !text.contains("ReaderSession"),
        "\(text)")
    }
    let monitor = try await busctl(
      desktop, "call", "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus.Monitoring",
      "BecomeMonitor", "asu", "0", "0")
    #expect(!monitor.ok, "\(monitor.text)")
  }
}
