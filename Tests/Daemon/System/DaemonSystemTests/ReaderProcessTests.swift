import Bus
import EventLoop
import Glibc
import Journal
import ReaderProtocol
import TestKit
import Testing

@testable import Daemon
@testable import DaemonTests

/// Runs scripts in the place of reader processes, and checks that the daemon survives them.
@Suite(.timeLimit(.minutes(5))) struct ReaderProcessTests {
  private static let version = String(frameVersion, radix: 8)
  /// The frame of a process that sleeps.
  private static let asleep = "\\0\\0\\0\\6\\\(version)\\12\\0\\0\\0\\0"
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  /// 200 frames with a log line, in the form for `printf`.
  let flood = String(
    repeating: "\\0\\0\\0\\13\\\(version)\\13\\0\\0\\0\\3\\0\\0\\0\\1x", count: 200)

  /// Starts a script in place of `tagroute-reader`.
  func start(
    _ script: String, on loop: EventLoop = EventLoop(label: "daemon")
  ) async throws -> ReaderProcess {
    let program = try directory.write("#!/bin/sh\n\(script)\n", to: "reader", mode: 0o755)
    let process = ReaderProcess(
      ReaderProcess.Configuration(program: program, device: "pn532_uart:/dev/null", environment: ["A=b"]),
      on: loop)
    await process.start()
    return process
  }

  /// Waits for the process's id. The process may already have ended when this returns.
  func child(of process: ReaderProcess) async throws -> Int32 {
    let child = Locked<Int32?>(nil)
    await process.wait { process in
      child.withLock { child in
        child = process.processID
        return child != nil
      }
    }
    return try #require(child.withLock { $0 })
  }

  func crashes(_ count: Int, of process: ReaderProcess) async throws -> [ReaderCrash] {
    var crashes: [ReaderCrash] = []
    for await event in process.events {
      if case .crashed(let crash) = event { crashes.append(crash) }
      if crashes.count == count { break }
    }
    return crashes
  }

  @Test func `a process that sends garbage is killed with a reason and restarted`() async throws {
    let process = try await start("printf 'GET / HTTP/1.1' >&3; exec sleep 1000")
    let crashes = try await crashes(3, of: process)
    #expect(crashes.map(\.reason) == Array(repeating: "it sent a frame of 1195725856 bytes", count: 3))
    #expect(crashes.map(\.restart) == [.zero, .milliseconds(250), .milliseconds(500)])
    await process.stop()
  }

  /// As after an update: the old daemon still runs, and starts the new program.
  @Test func `a process of another version is reported with a remedy and restarted late`() async throws {
    let process = try await start("printf '\\0\\0\\0\\3\\1\\4\\1' >&3; exec sleep 1000")
    let crash = try #require(try await crashes(1, of: process).first)
    #expect(
      crash.reason == "it sent a frame of version 1 instead of \(frameVersion): "
        + "tagroute-reader is of another version than this daemon: restart tagrouted")
    #expect(crash.restart == .seconds(30))
    await process.stop()
  }

  @Test func `the exit code of a process is reported`() async throws {
    let process = try await start("exit 3")
    #expect(try await crashes(1, of: process).map(\.reason) == ["exited with code 3"])
    await process.stop()
  }

  @Test func `a process that closes its link is killed`() async throws {
    // It first reports that it sleeps, so that no other deadline is due.
    let process = try await start("printf '\(Self.asleep)' >&3; exec 3>&-; exec sleep 1000")
    #expect(try await crashes(1, of: process).map(\.reason) == ["it was not heard of in time"])
    await process.stop()
  }

  @Test func `a process that sends more than the daemon reads is killed`() async throws {
    let process = try await start("printf '\(flood)' >&3; exec sleep 1000")
    let first = try await child(of: process)
    // The test reads the events only after the process was killed.
    await process.wait { $0.processID != first }
    let crash = try #require(try await crashes(1, of: process).first)
    #expect(crash.reason == "it sent more than anybody can take in")
    await process.stop()
  }

  /// The first process sends too much and exits by itself. The second reports its state.
  @Test func `a process is not killed for the messages of the one before it`() async throws {
    let loop = EventLoop(label: "daemon")
    let go = directory.file("go")
    try #require(mkfifo(go, 0o600) == 0)
    let process = try await start(
      """
      cd \(directory.path)
      if mkdir first 2>/dev/null; then
        read -r line <go
        printf '\(flood)' >&3; exit 0
      fi
      printf '\\0\\0\\0\\7\\\(Self.version)\\1\\0\\0\\0\\1x\(Self.asleep)' >&3; exec sleep 1000
      """, on: loop)
    let child = try await child(of: process)
    // The loop gets the messages of the first process and its end at the same time.
    loop.execute {
      // This waits until the process reads.
      _ = close(open(go, O_WRONLY))
      var information = siginfo_t()
      while waitid(P_PID, id_t(child), &information, Int32(WEXITED | WNOWAIT)) != 0 && errno == EINTR {}
    }
    await process.wait { $0.processID != child }
    var crashes: [String] = []
    for await event in process.events {
      if case .crashed(let crash) = event { crashes.append(crash.reason) }
      if case .phase(.absent(reason: "x"), _) = event { break }
    }
    // The order in which the loop handles the flood and the exit is random. Neither may affect the second process.
    let reason = try #require(crashes.first)
    #expect(crashes.count == 1, "\(crashes)")
    #expect([ReaderChild.success, "it sent more than anybody can take in"].contains(reason))
    await process.stop()
  }

  @Test func `a missing program is reported and retried with pauses`() async throws {
    let process = ReaderProcess(
      ReaderProcess.Configuration(program: directory.file("missing"), device: nil), on: EventLoop(label: "daemon"))
    await process.start()
    let crash = try #require(try await crashes(2, of: process).last)
    #expect(crash.reason == "cannot start \(directory.file("missing")): No such file or directory")
    #expect(crash.restart == .milliseconds(250))
    await process.stop()
  }

  @Test func `a process gets only its link, its arguments and its environment`() async throws {
    let process = try await start(
      """
      cd \(directory.path)
      ls -l /proc/$$/fd > 1; mv 1 descriptors
      tr '\\0' '\\n' < /proc/$$/environ > 1; mv 1 environment
      # Without a child: the shell blocks signals itself while it starts one.
      while read -r line; do case $line in SigBlk*) echo "$line" ;; esac; done < /proc/$$/status > 1; mv 1 signals
      echo "$@" > 1; mv 1 arguments
      exit 0
      """)
    _ = try await crashes(1, of: process)
    await process.stop()
    func text(_ name: String) throws -> String { String(decoding: try readFile(directory.file(name)), as: UTF8.self) }
    // One per line: "lrwx------ 1 root root 64 Nov 20 09:39 3 -> socket:[404826]".
    for line in try text("descriptors").split(separator: "\n").dropFirst() {
      let words = line.split(separator: " ")
      let (number, target) = (words[words.count - 3], words[words.count - 1])
      switch number {
      case "0": #expect(target == "/dev/null")
      case "2": break  // our own standard error
      case "3": #expect(target.hasPrefix("socket:"))
      // The shell's own descriptors: its redirection, and the script.
      default: #expect(target == "/dev/null" || target.hasPrefix(directory.path), "\(line)")
      }
    }
    #expect(try text("environment").split(separator: "\n") == ["A=b"])
    #expect(try text("signals").hasSuffix("0000000000000000\n"))
    let arguments = "--link 3 --device pn532_uart:/dev/null\n"
    #expect(try text("arguments") == arguments)
  }

  @Test func `a process that ignores signals and commands is killed at the stop`() async throws {
    let process = try await start("trap '' TERM INT HUP; printf '\(Self.asleep)' >&3; exec sleep 1000")
    let identifier = try await child(of: process)
    await process.stop()
    #expect(kill(identifier, 0) == -1 && errno == ESRCH)
    #expect(await process.processID == nil)
  }
}

@Suite(.timeLimit(.minutes(5))) struct ReaderDiscoveryTests {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  /// The devices that the daemon takes from a process that sends these lists.
  func devices(_ lists: ReaderList..., script: String = "exit 0") async throws -> [String] {
    let frames = try directory.write(lists.flatMap(\.frame), to: "frames")
    let program = try directory.write("#!/bin/sh\ncat \(frames) >&3\n\(script)\n", to: "reader", mode: 0o755)
    return try await ReaderDiscovery.devices(program: program, on: EventLoop(label: "daemon"))
  }

  @Test func `the listed readers are returned in order`() async throws {
    let found = ["pn53x_usb:001:002", "pn532_uart:/dev/ttyUSB0"]
    #expect(try await devices(.devices(found)) == found)
    #expect(try await devices() == [])
  }

  @Test func `only valid connection strings are returned, each once`() async throws {
    let found = [
      "pn53x_usb:001:002", "acr122_pcsc:ACS ACR122U 00 00", "pn53x_usb:001:002", "-x", "../reader", ":1", "Error: none",
      "", "pn532_uart:\u{1}", "pn532_uart:\0/dev/x", "pn532_uart:\u{1B}[2J", "pn532_uart:\u{FF}", "pn532_spi",
    ]
    #expect(
      try await devices(.devices(found)) == [
        "pn53x_usb:001:002", "acr122_pcsc:ACS ACR122U 00 00", "pn532_spi",
      ])
  }

  @Test(
    arguments: [
      [.devices([]), .devices([])], [.readers([])], [.problem(PCSCProblem(.refused))],
    ] as [[ReaderList]])
  func `a process that sends another list than it was asked for is killed`(lists: [ReaderList]) async throws {
    let frames = try directory.write(lists.flatMap(\.frame), to: "others")
    await #expect(throws: ReaderDiscovery.Failure.self) {
      try await devices(script: "cat \(frames) >&3; exec sleep 1000")
    }
  }

  @Test func `a process that fails is an error`() async throws {
    await #expect(throws: ReaderDiscovery.Failure.self) { try await devices(.devices([]), script: "exit 1") }
    await #expect(throws: ReaderDiscovery.Failure.self) { try await devices(script: "echo hello >&3") }
    await #expect(throws: ReaderDiscovery.Failure.self) {
      try await ReaderDiscovery.devices(program: "/nonexistent/reader", on: EventLoop(label: "daemon"))
    }
  }
}

/// Two readers: one of them is broken or hostile.
@Suite(.timeLimit(.minutes(5))) struct MisbehavingReaderTests {
  enum Misdeed: String, CaseIterable, Sendable {
    case crashes, floods, speaksGarbage
  }

  @Test(arguments: Misdeed.allCases)
  func `a misbehaving reader does not affect the other reader`(misdeed: Misdeed) async throws {
    let rig = try await DaemonRig(
      devices: "pn532_uart:/dev/scripted;pn532_uart:/dev/other", others: ["other"],
      starter: "`a misbehaving reader does not affect the other reader`_\(misdeed.rawValue)")
    let other = try #require(rig.others.first)
    let agent = try await rig.startScanning()
    await other.becomeReady()
    for await command in other.commands where command.isScan == true { break }
    await rig.reader.tap(.message(Samples.message), number: 1)
    let seen = await rig.daemon.log().count
    switch misdeed {
    case .crashes:
      for child in try rig.daemon.children() where try child.workingDirectory().hasSuffix("/other") {
        child.signal(11)
      }
      try await rig.daemon.line(containing: "/dev/other) ended: killed by signal 11", after: seen)
    case .floods:
      for number in 0..<400 { await other.send(.log(.error, "a"), .state(.failed(reason: "\(number)"))) }
      try await rig.daemon.line(containing: "/dev/other) ended", after: seen)
    case .speaksGarbage:
      await other.send(bytes: [0xFF, 0xFF, 0xFF, 0xFF])
      try await rig.daemon.line(containing: "/dev/other) ended: it sent", after: seen)
    }
    await rig.reader.tap(.message(Samples.message), number: 2)
    for _ in 1...2 { #expect(try await agent.taps.nextMessage() == Samples.message) }
    #expect(await !rig.daemon.log().contains { $0.contains("process of reader Scripted (pn532_uart:/dev/scripted)") })
    #expect(await rig.daemon.log().count < 400)
    #expect(try await agent.property("Scanning")?.asBool == true)
  }
}
