import Bus
import EventLoop
import Foundation
import Names
import TestKit
import Testing

/// The real program, on a bus with a double of the daemon and of the agent.
@Suite(.timeLimit(.minutes(5))) struct CommandTests {
  private func run(
    _ arguments: [String], on doubles: BusOfDoubles? = nil, starter: String = #function
  ) async throws -> (status: ChildProcess.ExitStatus, output: String, errors: [String]) {
    let address = doubles?.address ?? "unix:path=/nonexistent/bus"
    let result = try await ChildProcess.run(
      BuiltProducts.program("tagroute"), arguments,
      environment: ["DBUS_SYSTEM_BUS_ADDRESS": address, "DBUS_SESSION_BUS_ADDRESS": address], starter: starter)
    let output = Set(result.output.split(separator: "\n").map(String.init))
    return (result.status, result.output, result.log.filter { !output.contains($0) })
  }

  private func object(_ text: String) throws -> [String: Any] {
    try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
  }

  @Test(arguments: [
    [], ["--json"], ["--jso", "status"], ["nonsense"], ["status", "extra"], ["status", "--nope"], ["resolve"],
  ])
  func `wrong usage exits with 64 and names the mistake`(_ arguments: [String]) async throws {
    let result = try await run(arguments)
    #expect(result.status == .exited(64))
    #expect(result.output == "")
    #expect(result.errors.count == 1)
    #expect(result.errors.first?.hasPrefix("tagroute: ") == true)
  }

  @Test func `a command explains itself`() async throws {
    let result = try await run(["status", "--help"])
    #expect(result.status == .exited(0))
    #expect(result.output.hasPrefix("Usage: tagroute status"))
  }

  @Test(arguments: [
    ["status"], ["status", "--json"], ["monitor"], ["handlers"], ["resolve", "https://example.com"], ["read"],
    ["lock", "--yes"], ["run", "true"], ["inbox"], ["inbox", "clear", "--all", "--yes"],
  ])
  func `without a bus the exit code is 69`(_ arguments: [String]) async throws {
    let result = try await run(arguments)
    #expect(result.status == .exited(69))
    #expect(result.output == "")
    #expect(result.errors.first?.contains("bus") == true)
  }

  @Test(arguments: [
    ["--help"], ["status", "--help"], ["resolve", "https://example.com"], ["handlers", "--json"], ["monitor"],
  ])
  func `an output that cannot be written is a failure`(_ arguments: [String]) async throws {
    let doubles = try await BusOfDoubles(daemon: true, agent: true)
    defer { withExtendedLifetime(doubles) {} }
    let result = try await ChildProcess.run(
      "/bin/sh", ["-c", "exec \"$0\" \"$@\" > /dev/full", try BuiltProducts.program("tagroute")] + arguments,
      environment: ["DBUS_SYSTEM_BUS_ADDRESS": doubles.address, "DBUS_SESSION_BUS_ADDRESS": doubles.address])
    #expect(result.status == .exited(74))
    #expect(result.log == ["tagroute: cannot write the output: No space left on device"])
  }

  @Test func `without a daemon the exit code is 69 and the message says how to start it`() async throws {
    let result = try await run(["status"], on: try await BusOfDoubles())
    #expect(result.status == .exited(69))
    // If the daemon's user does not exist, the daemon has to be installed first.
    let start =
      getpwnam("tagroute") == nil
      ? "sudo Packaging/install" : "sudo -u tagroute \(try BuiltProducts.program("tagrouted"))"
    #expect(result.errors.count == 1)
    #expect(result.errors.first?.hasPrefix("tagroute: the daemon is not running: \(start); ") == true)
  }

  @Test func `status prints the state that the daemon reports`() async throws {
    let doubles = try await BusOfDoubles(daemon: true)
    let text = try await run(["status"], on: doubles)
    #expect(text.status == .exited(0))
    #expect(
      text.output == """
        not scanning: the session is locked, something-new
        1: pn532\\u{202e} on seat0: failed (pn532_uart:/dev/x)
          it is taken by pcscd
        no agent in this session: \(try BuiltProducts.program("tagroute-agent")) &
        tagrouted is version 9.8.7, this is 0.1.0: \(try BuiltProducts.program("tagroute")) is older: update it, \
        or remove it if a newer tagroute is installed

        """)
    let json = try object(try await run(["status", "--json"], on: doubles).output)
    #expect(
      Set(json.keys) == [
        "version", "enabled", "scanning", "suspendReasons", "inhibitors", "readers", "configurationError",
        "stationUser", "stationActive", "agent", "mqtt",
      ])
    #expect(json["stationUser"] as? String == "" && json["stationActive"] as? Bool == false)
    #expect(json["configurationError"] as? String == "")
    #expect(json["suspendReasons"] as? [String] == ["session-locked", "something-new"])
    #expect(json["agent"] is NSNull && json["mqtt"] is NSNull)
    let reader = try #require((json["readers"] as? [[String: Any]])?.first)
    #expect(Set(reader.keys) == ["number", "name", "device", "seat", "state", "reason"])
    #expect(reader["number"] as? Int == 1)
    #expect(reader["reason"] as? String == "it is taken by pcscd")
  }

  @Test(arguments: [["--json", "status"], ["status", "--json"], ["--json", "--json", "status"]])
  func `the json option may come before or after the command`(_ arguments: [String]) async throws {
    let doubles = try await BusOfDoubles(daemon: true)
    #expect(try object(try await run(arguments, on: doubles).output)["scanning"] as? Bool == false)
  }

  /// The double is an early daemon: it reports its status and supports no other method.
  @Test(arguments: [["run", "true"], ["read"], ["write", "--text", "a"]])
  func `if the daemon is too old for the command, the message says to restart it`(_ arguments: [String]) async throws {
    let doubles = try await BusOfDoubles(daemon: true)
    let result = try await run(arguments, on: doubles)
    #expect(result.status == .exited(69))
    #expect(result.errors.count == 1)
    let error = try #require(result.errors.first)
    #expect(
      error.hasPrefix("tagroute: tagrouted has another version than this tagroute (0.1.0) and does not support this ("))
    #expect(error.hasSuffix("): end tagrouted and start it again, in the way it was started"))
  }

  @Test func `status says that scanning is about to start before the reader answers`() async throws {
    let doubles = try await BusOfDoubles(daemon: true)
    await doubles.double.doesNotScan(for: [])
    #expect(try await run(["status"], on: doubles).output.hasPrefix("about to scan\n"))
  }

  @Test func `resolve prints the answer of the agent`() async throws {
    let doubles = try await BusOfDoubles(agent: true)
    #expect(try await run(["resolve", "https://example.com"], on: doubles).output == "none: nobody\n")
    let explained = try await run(["resolve", "--explain", "https://example.com"], on: doubles)
    #expect(explained.output == "uri: it is well-formed\nnone: nobody\n")
    let json = try object(try await run(["resolve", "--json", "https://example.com"], on: doubles).output)
    #expect(
      Set(json.keys) == [
        "uri", "kind", "handler", "candidates", "moreCandidates", "claimants", "moreClaimants", "trusted", "question",
        "recordType", "rule", "action", "asks", "reason", "steps",
      ])
    #expect(json["handler"] is NSNull)
    let long = try await run(["resolve", "https://example.com/" + String(repeating: "a", count: 8192)], on: doubles)
    #expect(long.status == .exited(64))
    #expect(long.errors == ["tagroute: the URI is longer than 8 KiB"])
  }

  @Test func `handlers --check reads a file without an agent`() async throws {
    let doubles = try await BusOfDoubles()
    let folder = try TemporaryDirectory()
    let file = try folder.write(
      #"{"applinks": {"details": [{"appIDs": ["a"], "components": [{"/": 1}]}]}}"#, to: "a.json")
    let wrong = try await run(["handlers", "--check", file], on: doubles)
    #expect(wrong.output == "\(file):1:66: applinks.details[0].components[0].\"/\": it is not a text\n")
    #expect(wrong.status == .exited(1))
    try folder.write(#"{"applinks": {"details": [{"appIDs": ["a"], "components": [{"/": "/a"}]}]}}"#, to: "a.json")
    let right = try await run(["handlers", "--check", file], on: doubles)
    #expect(right.output.isEmpty && right.status == .exited(0))
    #expect(try await run(["handlers", "--check", file, "b"], on: doubles).status == .exited(64))
    #expect(try await run(["handlers", file], on: doubles).status == .exited(64))
  }

  @Test func `handlers lists the registered apps and the broken entries`() async throws {
    let doubles = try await BusOfDoubles(agent: true)
    #expect(
      try await run(["handlers"], on: doubles).output == """
        Menu (org.example.Menu): menu.example.com x-menu:
          preferred for x-menu:
        Broken (broken): error, line 3: no Exec

        """)
    let text = try await run(["handlers", "--json"], on: doubles).output
    let list = try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]])
    #expect(list.map { $0["id"] as? String } == ["org.example.Menu.desktop", "broken.desktop"])
    #expect(list.last?["problem"] as? String == "no Exec" && list.first?["problem"] is NSNull)
  }

  @Test func `the agent keeps a choice, and its error is printed`() async throws {
    let doubles = try await BusOfDoubles(agent: true)
    let preferred = try await run(["handlers", "prefer", "org.example.Menu", "a.example", "--json"], on: doubles)
    #expect(preferred.status == .exited(0))
    let json = try #require(JSONSerialization.jsonObject(with: Data(preferred.output.utf8)) as? [String: String])
    #expect(json == ["action": "prefer", "handler": "org.example.Menu", "domain": "a.example"])
    #expect(
      try await run(["handlers", "block", "org.example.Menu"], on: doubles).output
        == "Menu (org.example.Menu): blocked for everything\n")
    #expect(try object(try await run(["handlers", "block", "x", "--json"], on: doubles).output)["domain"] is NSNull)
    let forgotten = try await run(["handlers", "forget", "--all"], on: doubles)
    #expect(forgotten.status == .exited(1))
    #expect(forgotten.errors == ["tagroute: the agent: intentapps.list:3: is damaged"])
  }

  @Test func `handlers --check names a broken entry and exits with 1`() async throws {
    let doubles = try await BusOfDoubles(agent: true)
    let check = try await run(["handlers", "--check"], on: doubles)
    #expect(check.output == "/usr/share/applications/broken.desktop:3: no Exec\n")
    #expect(check.status == .exited(1))
    let json = try await run(["handlers", "--check", "--json"], on: doubles)
    let list = try #require(JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [[String: Any]])
    #expect(list.map { $0["line"] as? Int } == [3])
    #expect(json.status == .exited(1))
  }

  @Test func `monitor prints one line per change`() async throws {
    let doubles = try await BusOfDoubles(daemon: true, agent: true)
    let monitor = try ChildProcess(
      BuiltProducts.program("tagroute"), ["monitor", "--json"],
      environment: ["DBUS_SYSTEM_BUS_ADDRESS": doubles.address, "DBUS_SESSION_BUS_ADDRESS": doubles.address])
    let first = try object(try await monitor.line(containing: "session-locked"))
    #expect(first["event"] as? String == "status")
    #expect(first["scanning"] as? Bool == false)
    await doubles.double.beginScanning()
    let second = try object(try await monitor.line(containing: "\"scanning\":true"))
    #expect(second["suspendReasons"] as? [String] == [])
    try await doubles.double.deliverTap()
    let third = try object(try await monitor.line(containing: "tap-closed"))
    #expect(third["id"] as? String == "an-id")
    #expect(third["state"] as? String == "delivered")
    #expect(third.keys.contains("title"))
    try await doubles.bus.stop()
    try await monitor.line(containing: "daemon-gone")
  }
}

/// What the real `tagroute status` prints about the outbox and `tagroute-mqtt`, on a bus with doubles of all programs.
@Suite(.timeLimit(.minutes(5))) struct OutboxStatusTests {
  private static func outgoing(_ isOn: Bool, _ waiting: UInt32, _ dropped: UInt64, oldest: UInt64? = nil)
    -> [String: Value]
  {
    var values: [String: Value] = ["on": .boolean(isOn), "waiting": .uint32(waiting), "dropped": .uint64(dropped)]
    values["oldest"] = oldest.map(Value.uint64)
    return values
  }

  private func status(
    _ arguments: [String] = [], outgoing: [String: Value]?, mqtt: [String: String]? = nil, starter: String = #function
  ) async throws -> String {
    let doubles = try await BusOfDoubles(daemon: true, starter: starter)
    try await doubles.double.startAgent(outgoing: outgoing)
    let program = try await Connection.open(BusAddress(doubles.address), on: EventLoop(label: "mqtt"))
    if let mqtt {
      let texts = mqtt.map { name, text in ExportedProperty(name, "s") { _ in .string(text) } }
      let properties = texts + [ExportedProperty("Sent", "t") { _ in .uint64(7) }]
      try await program.export(
        [ExportedInterface(Names.Mqtt.interface, properties: properties)], at: try ObjectPath(Names.Mqtt.path))
      try await program.standIn(for: Names.Mqtt.busName)
    }
    let result = try await ChildProcess.run(
      BuiltProducts.program("tagroute"), ["status"] + arguments,
      environment: [
        "DBUS_SYSTEM_BUS_ADDRESS": doubles.address, "DBUS_SESSION_BUS_ADDRESS": doubles.address, "TZ": "UTC",
      ], starter: starter)
    #expect(result.status == .exited(0), "\(result.log)")
    // The doubles stay on the bus until here.
    withExtendedLifetime((doubles, program)) {}
    return result.output
  }

  private func lines(_ outgoing: [String: Value]?, mqtt: [String: String]? = nil, starter: String = #function)
    async throws -> [String]
  {
    try await status(outgoing: outgoing, mqtt: mqtt, starter: starter).split(separator: "\n").map(String.init)
      .filter { $0.hasPrefix("outbox: ") || $0.hasPrefix("mqtt: ") }
  }

  @Test func `without an outbox there is no line about it`() async throws {
    #expect(try await lines(nil) == [])
    #expect(try await lines(Self.outgoing(false, 0, 0)) == [])
  }

  @Test func `status counts the taps that wait and those that were dropped, and names the broker`() async throws {
    let waiting = Self.outgoing(true, 12, 3, oldest: 1_795_000_000_000_000)
    let program = [
      "State": "waiting", "StateReason": "the broker refuses the password: check PasswordFile=", "Version": "0.1.0",
      "Broker": "mqtts://broker.example.com", "Station": "door",
    ]
    #expect(
      try await lines(waiting, mqtt: program) == [
        "outbox: 12 taps wait, the oldest since 2026-11-18 11:06; 3 were dropped",
        "mqtt: waiting, mqtts://broker.example.com as door: the broker refuses the password: check PasswordFile=",
      ])
    let json = try #require(
      JSONSerialization.jsonObject(with: Data(try await status(["--json"], outgoing: waiting, mqtt: program).utf8))
        as? [String: Any])
    let outgoing = try #require((json["agent"] as? [String: Any])?["outgoing"] as? [String: Any])
    #expect(outgoing["on"] as? Bool == true && outgoing["waiting"] as? Int == 12)
    #expect(outgoing["dropped"] as? Int == 3 && outgoing["oldest"] as? Int == 1_795_000_000_000_000)
    let mqtt = try #require(json["mqtt"] as? [String: Any])
    #expect(Set(mqtt.keys) == ["version", "state", "stateReason", "broker", "station", "sent"])
    #expect(mqtt["state"] as? String == "waiting" && mqtt["sent"] as? Int == 7)
  }

  @Test func `if the program that sends taps does not run, status says how to start it`() async throws {
    let lines = try await lines(Self.outgoing(true, 1, 0, oldest: 1_795_000_000_000_000))
    #expect(lines.first == "outbox: 1 tap waits, the oldest since 2026-11-18 11:06")
    #expect(lines.last?.hasPrefix("mqtt: tagroute-mqtt does not run: ") == true)
    #expect(lines.last?.hasSuffix("/tagroute-mqtt &") == true)
    // The number of dropped taps stays visible after the file was removed.
    #expect(try await self.lines(Self.outgoing(false, 0, 1)) == ["outbox: no tap waits; 1 was dropped"])
  }
}

/// The completions that bash offers from the answers of the real program. `Packaging/check-completions` tests the rest
/// with a stand-in, in each shell.
@Suite(.timeLimit(.minutes(5))) struct CompletionTests {
  private func completed(
    _ words: [String], on doubles: BusOfDoubles?, starter: String = #function
  ) async throws -> (output: String, log: [String]) {
    let script = """
      source \(repositoryRoot)/Config/completions/tagroute
      COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
      _tagroute
      printf '%s\\n' "${COMPREPLY[@]}"
      """
    let program = try BuiltProducts.program("tagroute")
    let folder = program.dropLast("/tagroute".count)
    // This `timeout` sets no limit, so that a slow machine does not fail the test.
    let directory = try TemporaryDirectory()
    try directory.write("#!/bin/sh\nshift\nexec \"$@\"\n", to: "bin/timeout", mode: 0o755)
    let address = doubles?.address ?? "unix:path=/nonexistent/bus"
    let result = try await ChildProcess.run(
      "/bin/bash", ["--norc", "--noprofile", "-c", script, "bash"] + words,
      environment: [
        "PATH": "\(directory.file("bin")):\(folder):/usr/bin:/bin", "DBUS_SYSTEM_BUS_ADDRESS": address,
        "DBUS_SESSION_BUS_ADDRESS": address,
      ], starter: starter)
    let lines = Set(result.output.split(separator: "\n").map(String.init))
    return (result.output, result.log.filter { !lines.contains($0) && !$0.isEmpty })
  }

  @Test func `bash completes the readers and handlers that the program lists`() async throws {
    let doubles = try await BusOfDoubles(daemon: true, agent: true)
    #expect(try await completed(["tagroute", "read", "--reader", ""], on: doubles).output == "1\n")
    let apps = try await completed(["tagroute", "handlers", "prefer", "org"], on: doubles)
    #expect(apps.output == "org.example.Menu\n")
  }

  @Test(arguments: [["handlers", "prefer", ""], ["inbox", "show", ""], ["read", "--reader", ""]])
  func `completion prints no error if the daemon and the agent do not answer`(_ words: [String]) async throws {
    let result = try await completed(["tagroute"] + words, on: nil)
    #expect(result.log.isEmpty, "\(result.log)")
    #expect(!result.output.contains("org.example"))
  }
}
