import Bus
import EventLoop
import Glibc
import Names
import TagrouteClient
import TestSupport
import Testing

/// Another user's process on the same bus, which polkit allows everything, sees nothing of a session and reaches nothing of it.
@Suite(.timeLimit(.minutes(5)), .enabled(if: getuid() == 0, "another user is needed, and root to become it"))
struct SessionPrivacyTests {
  private static let nobody = "65534"

  /// Runs `busctl` as another user.
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

  /// What another user calls the methods with, by their names: the signature and the values, as `busctl` takes them.
  private static let managerCalls: [String: (arguments: [String], isAllowed: Bool)] = [
    // Its own: an agent for its own taps, an inhibitor, a place in the line.
    "RegisterAgent": (["oa{sv}", "/agent", "0"], true), "Inhibit": (["ss", "a", "b"], true),
    "ListInhibitors": ([], true), "StartReaderSession": (["a{sv}", "0"], true),
    "ReportConditions": (["a{sb}", "1", "locked", "true"], false), "CancelReaderSession": (["o", "SESSION"], false),
    // Whose session has the reader keeps it.
    "InhibitWithOptions": (["ssa{sv}", "a", "b", "1", "release-reader", "b", "true"], false),
  ]
  private static let sessionCalls: [String: [String]] = ["Invalidate": ["s", ""], "RestartPolling": []]
  private static let tagCalls: [String: [String]] = [
    "QueryNDEF": [], "ReadNDEF": [], "WriteNDEF": ["ay", "0"], "Lock": [], "Transceive": ["ayu", "2", "48", "0", "0"],
  ]

  /// The names of the members of a kind that an interface is documented to have, which is what the running daemon has: other tests
  /// compare the two.
  private func members(_ kind: String, of interface: String, _ word: String = "") throws -> Set<String> {
    Set(
      try InterfaceDescription(documented: interface).members.compactMap { line in
        guard line.hasPrefix("\(kind) "), word.isEmpty || line.contains(word) else { return nil }
        return line.dropFirst(kind.count + 1).split(separator: "(").first.map(String.init)
      })
  }

  /// Another user's program that listens to whatever it may hear. What is said to others the bus lets it have in no way.
  private func ear(_ address: String) async throws -> ChildProcess {
    let become = ["--reuid=\(Self.nobody)", "--clear-groups"]
    let ear = try ChildProcess(
      "/usr/bin/setpriv",
      become + [
        try BuiltProducts.systemProgram("gdbus", package: "libglib2.0-bin"), "monitor", "--address", address, "--dest",
        Names.Daemon.busName,
      ])
    try await ear.line(containing: "is owned by")
    // Neither as a monitor nor, as this program tries next, with a rule that eavesdrops.
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

  @Test func anotherUserSeesNothingAndReachesNothing() async throws {
    let desktop = try await Desktop()
    let polkit = try await desktop.startPolkit()
    try await desktop.startScanning()
    let address = desktop.installation.systemBus.address
    // The folder of the bus is the test's own; that of a real one is everybody's.
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
    // All that left the session as it is.
    #expect(try await tag.readNDEF() == message)
    #expect(try await tag.queryNDEF().status == .readWrite)
    try await open.session.invalidate()
    #expect(try await open.end().reason == .invalidated)
    try await desktop.scanning()

    // The one signal that says what is on a tag.
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
    // The last that it hears comes after all that.
    try await desktop.daemon.signal(SIGTERM)
    try await ear.line(containing: "does not have an owner")

    // It has heard of the reader, which everybody may, and of nothing else.
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
    await polkit.stop()
    await desktop.stop()
  }

  /// Tries every method and every property that there is.
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
    // Everybody may read what a reader says of itself, and do nothing with it.
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
        let value = try #require(values[member], "\(interface).\(member) can be set, and is not tried here")
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
