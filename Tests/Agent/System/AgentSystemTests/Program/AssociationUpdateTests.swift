import EventLoop
import Glibc
import Journal
import TestKit
import Testing

@testable import Agent

@Suite(.timeLimit(.minutes(5))) struct AssociationUpdateTests {
  @Test func `a cancelled update ends its process`() async throws {
    let directory = try TemporaryDirectory()
    let pipe = directory.file("pipe")
    #expect(mkfifo(pipe, 0o600) == 0)
    let program = try directory.write("#!/bin/sh\necho $$ > '\(pipe)'\nexec sleep 1000\n", to: "stand-in")
    #expect(chmod(program, 0o700) == 0)
    let update = AssociationUpdate(
      clock: ContinuousClock(), log: Log(threshold: .error, prefixed: false), program: program)
    let running = Task { await update.run() }
    let text = try await DedicatedThread.run { try? readFile(pipe) }
    let number = try #require(text.flatMap { Int32(String(decoding: $0, as: UTF8.self).split(separator: "\n")[0]) })
    running.cancel()
    await running.value
    // The process ended before its own end, and it was reaped.
    #expect(kill(number, 0) == -1 && errno == ESRCH)
  }
}
