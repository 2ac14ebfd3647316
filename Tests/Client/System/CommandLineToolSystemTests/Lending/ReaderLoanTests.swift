import Bus
import EventLoop
import Names
import TestKit
import Testing

@testable import CommandLineTool

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
