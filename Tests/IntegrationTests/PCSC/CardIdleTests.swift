import ReaderSimulator
import TagrouteClient
import TestSupport
import Testing

/// What the programs do while nothing happens: they sleep.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct CardIdleTests {
  private static let period = Duration.seconds(2)
  /// A process may still be finishing its last work in the first period.
  private static let attempts = 5

  /// How often each thread of a process has slept and was woken (voluntary_ctxt_switches in proc_pid_status(5)).
  private func wakeUps(of process: Int32) throws -> [String: Int] {
    let folder = "/proc/\(process)/task"
    var counts: [String: Int] = [:]
    for thread in fileNames(in: folder) ?? [] {
      // A thread may end meanwhile.
      guard let status = try? readFile("\(folder)/\(thread)/status") else { continue }
      let line = String(decoding: status, as: UTF8.self).split(separator: "\n").first {
        $0.hasPrefix("voluntary_ctxt_switches")
      }
      counts[thread] = line?.split(separator: "\t").last.flatMap { Int($0) }
    }
    try #require(!counts.isEmpty, "process \(process) is gone")
    return counts
  }

  /// How often each process was woken during its quietest period. Ends early if the first two were not woken at all.
  private func quietest(_ processes: [Int32]) async throws -> [Int] {
    var least = processes.map { _ in Int.max }
    for _ in 0..<Self.attempts {
      let before = try processes.map { try wakeUps(of: $0) }
      // This does not wait for anything: a period without events is what is measured.
      try await Task.sleep(for: Self.period)
      let after = try processes.map { try wakeUps(of: $0) }
      for index in processes.indices {
        let woken = after[index].reduce(0) { $0 + $1.value - before[index][$1.key, default: 0] }
        least[index] = min(least[index], woken)
      }
      if least[0] == 0 && least[1] == 0 { return least }
    }
    return least
  }

  /// With a card that was announced, with one that has contacts, and with none.
  @Test(arguments: ["empty", "tag", "contact card"])
  func `nothing wakes the process of a reader while nothing happens`(state: String) async throws {
    let desk = try await CardDesktop.started(
      [.acr1252U, .pcTwin], starter: "`nothing wakes the process of a reader while nothing happens`_\(state)")
    if state == "tag" { try await desk.announces(1) }
    if state == "contact card" { try await desk.readers.insert(.openPGP(), into: desk.attached[1].slot) }
    let (reader, watch) = (try await desk.process(), try await desk.watch)
    let commands = await desk.readers.commandCount
    let woken = try await quietest([
      reader.identifier, watch.identifier, try await desk.desktop.daemon.identifier,
      try await desk.desktop.agent.identifier,
    ])
    #expect(woken[0] == 0, "the process of the reader")
    // pcsc-lite before 2.3.0 can lose a change of its list. So in the first 20 seconds the list is read again three
    // times. The quietest period has none of them.
    #expect(woken[1] == 0, "the process that lists the readers")
    // Nothing of our own. The runtime of Swift's tasks looks after its threads once a second (libdispatch's monitor of
    // its work queues), and ends threads that were idle for five seconds.
    #expect(woken[2] <= 8, "the daemon")
    #expect(woken[3] <= 8, "the agent")
    #expect(await desk.readers.commandCount == commands)
  }

  @Test func `nothing wakes the process of a reader that waits for pcscd`() async throws {
    let desk = try await CardDesktop.started()
    await desk.pcscd.kill()
    try await desk.desktop.status { $0.readers.first?.stateReason.contains("pcscd does not run") == true }
    let woken = try await quietest([try await desk.process().identifier, try await desk.watch.identifier])
    #expect(woken[0] == 0, "the process of the reader")
    #expect(woken[1] == 0, "the process that lists the readers")
  }
}
