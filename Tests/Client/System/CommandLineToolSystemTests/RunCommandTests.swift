import Bus
import EventLoop
import Glibc
import Names
import TestKit
import Testing

@testable import CommandLineTool

/// `tagroute run`, on a bus with a stand-in that lends the reader.
@Suite(.timeLimit(.minutes(5))) struct RunCommandTests {
  /// Descriptor 64 keeps the loan.
  @Test func `the command gets the reader and no descriptor but the loan's`() async throws {
    let place = try await Place()
    let process = try place.lend(["sh", "-c", "echo $LIBNFC_DEFAULT_DEVICE $LIBNFC_AUTO_SCAN; ls /proc/$$/fd; exit 7"])
    #expect(try await process.exit() == .exited(7))
    #expect(await process.standardOutput() == "\(ReaderSessionStandIn.device) false\n0\n1\n2\n64\n")
    var requests = place.daemon.requests.makeAsyncIterator()
    #expect(await requests.next() == .inhibit(who: "tagroute run", why: "sh", ["release-reader": .boolean(true)]))
    #expect(await requests.next() == .released)
  }

  /// A command that uses pcscd works as without a loan.
  @Test func `a reader of pcscd is lent, and not to libnfc`() async throws {
    let place = try await Place()
    await place.daemon.lend("pcsc:Example 00 00")
    let process = try place.lend(["sh", "-c", "echo \"$TAGROUTE_DEVICE,$LIBNFC_DEFAULT_DEVICE,$LIBNFC_AUTO_SCAN\""])
    #expect(try await process.exit() == .exited(0))
    #expect(await process.standardOutput() == "pcsc:Example 00 00,,false\n")
    #expect(
      await process.log().contains {
        $0.hasPrefix("tagroute: pcscd drives the lent reader Example 00 00. A command that uses libnfc cannot open it;")
      })
    await place.released()
  }

  @Test func `a signal that ends the command is in the exit code`() async throws {
    let place = try await Place()
    let process = try place.lend(["sh", "-c", "kill -KILL $$"])
    #expect(try await process.exit() == .exited(128 + SIGKILL))
    await place.released()
  }

  @Test(arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT])
  func `signals are passed on to the command`(number: Int32) async throws {
    let place = try await Place(starter: "`signals are passed on to the command`_\(number)")
    let process = try place.lend(["python3", "-c", Self.waiting])
    try await process.line(containing: "ready")
    #expect(try await process.exit(after: number) == .exited(3))
    #expect(await process.log().contains("got \(number)"))
    await place.released()
  }

  @Test func `the daemon gets the reader back if tagroute is killed`() async throws {
    let place = try await Place()
    let process = try place.lend(["python3", "-c", Self.waiting])
    try await process.line(containing: "ready")
    let child = try #require(try process.children().first)
    process.signal(SIGKILL)
    await place.released()
    // The command could still have the device open, so it is ended as well.
    try await process.line(containing: "got \(SIGTERM)")
    try await child.end()
    #expect(try await process.exit() == .signalled(SIGKILL))
  }

  /// Each of these processes could have the device open.
  @Test(arguments: ["exit 5", "wait"]) func `the reader is lent until all processes of the command have ended`(
    end: String
  ) async throws {
    let place = try await Place(
      starter: "`the reader is lent until all processes of the command have ended`_\(end.prefix(4))")
    let process = try place.lend(["sh", "-c", "sleep 1000 & echo started $!; \(end)"])
    let line = try await process.line(containing: "started")
    let background = try ForeignProcess(try #require(line.split(separator: " ").last.flatMap { Int32($0) }))
    if end == "wait" {
      let shell = try #require(try process.children().first)
      #expect(try await process.exit(after: SIGKILL) == .signalled(SIGKILL))
      try await shell.end()
    } else {
      #expect(try await process.exit() == .exited(5))
    }
    // A second request arrives before the reader is returned.
    await place.daemon.refuse(BusError(name: Names.Errors.notPossible, message: "no"))
    #expect(try await place.lend(["true"]).exit() == .exited(75))
    background.signal(SIGTERM)
    var requests: [ReaderSessionStandIn.Request] = []
    for await request in place.daemon.requests {
      requests.append(request)
      if request == .released { break }
    }
    #expect(requests.count == 3, "\(requests)")
  }

  @Test func `a signal before the command runs ends the wait`() async throws {
    let place = try await Place()
    await place.daemon.letThemWait()
    let process = try place.lend(["python3", "-c", Self.waiting])
    for await request in place.daemon.requests { if case .inhibit = request { break } }
    #expect(try await process.exit(after: SIGINT) == .signalled(SIGINT))
    #expect(await process.log().isEmpty)
  }

  @Test func `a missing program exits with 127 and takes no reader`() async throws {
    let place = try await Place()
    let process = try place.lend(["there-is-no-such-program"])
    #expect(try await process.exit() == .exited(127))
    #expect(await process.log() == ["tagroute: there-is-no-such-program: no such program"])
    let other = try place.lend(["/etc/hostname"])
    #expect(try await other.exit() == .exited(126))
    await place.released()
    #expect(try await place.lend(["/nonexistent/program"]).exit() == .exited(127))
  }

  @Test func `an unavailable reader exits with 75, a forbidden one with 77`() async throws {
    let place = try await Place()
    for (error, code) in [(Names.Errors.notPossible, 75), (Names.Errors.notAuthorized, 77)] as [(String, Int32)] {
      await place.daemon.refuse(BusError(name: error, message: "no"))
      #expect(try await place.lend(["true"]).exit() == .exited(code))
    }
    let without = try ChildProcess(
      BuiltProducts.program("tagroute"), ["run", "--", "true"],
      environment: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/nonexistent/bus"])
    #expect(try await without.exit() == .exited(69))
  }

  /// Waits for a signal and prints its number.
  private static let waiting = """
    import os, signal
    numbers = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT}
    signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    os.write(1, b"ready\\n")
    os.write(1, b"got %d\\n" % signal.sigwait(numbers))
    os._exit(3)
    """
}

extension Place {
  fileprivate func lend(_ command: [String]) throws -> ChildProcess { try start(["run", "--"] + command) }

  fileprivate func released() async {
    for await request in daemon.requests where request == .released { return }
  }
}

/// A loan after the daemon restarted, on a bus with a stand-in that lends the reader.
@Suite(.timeLimit(.minutes(5))) struct ReaderLoanTests {
  private static let want = ReaderSessionStandIn.Request.inhibit(
    who: "tagroute run", why: "a test",
    ["release-reader": .boolean(true), "reader": .objectPath(ReaderSessionStandIn.reader)])

  /// A loan of the stand-in's reader, and a clock on which every pause ends at once.
  private func lent(_ place: Place) async throws -> (loan: ReaderLoan, pauses: Task<[Duration], Never>) {
    let clock = ManualClock()
    let connection = try await Connection.open(BusAddress(place.bus.address), on: EventLoop(label: "test-loan"))
    let loan = try ReaderLoan(connection, why: "a test", clock: clock)
    _ = try await loan.take(ReaderSessionStandIn.reader)
    #expect(await place.next(1) == [Self.want])
    let pauses = Task {
      var seen: [Duration] = []
      for await pause in clock.pauses {
        seen.append(pause)
        clock.advance(by: pause)
      }
      return seen
    }
    return (loan, pauses)
  }

  @Test func `a daemon that does not answer is asked again even without a change signal`() async throws {
    let place = try await Place()
    let (loan, pauses) = try await lent(place)
    // The error that the bus sends after its time limit for an answer.
    await place.daemon.refuse(BusError(name: BusError.Name.noReply, message: "it did not answer"))
    await place.daemon.forgetInhibitor()
    let keeping = Task { await loan.keep() }
    #expect(await place.next(12) == Array(repeating: Self.want, count: 12))
    await place.daemon.refuse(nil)
    #expect(await place.next(1) == [Self.want])
    // The loan was not lost, so the exit code stays 1.
    #expect(await loan.exitCode(of: 1) == 1)
    keeping.cancel()
    await keeping.value
    pauses.cancel()
    let seen = await pauses.value
    #expect(seen.contains { $0 <= .seconds(2) } && seen.max() == .seconds(30))
    #expect(zip(seen, seen.dropFirst()).allSatisfy { $0 <= $1 })
  }

  @Test func `without signals from the bus the daemon is asked at intervals`() async throws {
    let place = try await Place()
    let (loan, pauses) = try await lent(place)
    try await place.limitMatchRules(to: 1)
    let keeping = Task { await loan.keep() }
    for _ in 1...2 {
      await place.daemon.forgetInhibitor()
      #expect(await place.next(1) == [Self.want])
    }
    // As soon as the bus accepts the match rule, the signals are enough.
    try await place.limitMatchRules(to: 512)
    await place.daemon.forgetInhibitor()
    // A loan that already follows the signals checks its reader only after a change.
    try await place.daemon.have(readers: [ReaderSessionStandIn.device])
    #expect(await place.next(1) == [Self.want])
    keeping.cancel()
    await keeping.value
    pauses.cancel()
    #expect(await pauses.value.allSatisfy { $0 <= .seconds(30) })
  }

  @Test func `a message says so if none of several readers is known to be the lent one`() async throws {
    let place = try await Place()
    let process = try place.start(["run", "--", "sh", "-c", "read line; exit 1"], input: true)
    for await request in place.daemon.requests { if case .inhibit = request { break } }
    try await place.lose(readersBeing: ["pn532_uart:/dev/one", "pn532_uart:/dev/other"])
    let line = try await process.line(containing: "the daemon restarted, and none of its readers")
    #expect(line.contains("none of its readers is known to be \(ReaderSessionStandIn.device),"))
    // The message is printed once per loss.
    try await place.daemon.have(readers: ["pn532_uart:/dev/other", "pn532_uart:/dev/one"])
    try await place.daemon.have(readers: ["pn532_uart:/dev/other", ReaderSessionStandIn.device])
    try await process.line(containing: "the daemon lends the reader to the command again")
    #expect(await process.log().count { $0.contains("none of its readers") } == 1)
    try await place.lose(readersBeing: ["pn532_uart:/dev/one", "pn532_uart:/dev/other"])
    try await process.line(containing: "none of its readers", after: 2)
    try await process.send("")
    #expect(try await process.exit() == .exited(Names.ExitCode.tryAgain))
  }
}

extension Place {
  /// Ends the loan, and lists other readers before and after that. The reader is never available in between.
  fileprivate func lose(readersBeing devices: [String]) async throws {
    try await daemon.have(readers: devices)
    await daemon.forgetInhibitor()
    // The loan checks its reader only after a change.
    try await daemon.have(readers: devices)
  }

  /// Allows each connection to the bus `count` match rules. Existing rules stay.
  fileprivate func limitMatchRules(to count: Int) async throws {
    try await bus.limitMatchRules(to: count)
    let client = try await Connection.open(BusAddress(bus.address), on: EventLoop(label: "test-client"))
    _ = try await client.call("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "ReloadConfig")
  }
}
