import Bus
import EventLoop
import Glibc
import NDEF
import Names
import ReaderSimulator
import TagrouteClient
import TestKit

/// The time from a client's death during a reader session to the return of scanning, at each step of a session. Daemon,
/// reader process and libnfc are real, with the timing of a real PN532.
struct SessionBenchmark {
  /// How often a client dies at each step.
  let ends: Int

  func run(_ results: inout Results) async throws {
    try await BenchmarkPrograms.build()
    let reader = try await SimulatedReader.start(timing: .realistic, clock: MachineClock())
    let installation = try await Installation()
    guard symlink(await reader.path, installation.directory.file("reader")) == 0 else {
      throw SystemError("make a link to the simulated reader")
    }
    let address = BusAddress(installation.systemBus.address)
    let polkit = try await PolkitStandIn.start(
      on: address, allowing: [Names.PolkitAction.readTags, Names.PolkitAction.writeTags])
    try await installation.startDaemon()
    try await installation.startAgent()
    try await installation.waitUntilScanning()
    let daemon = try await DaemonClient.connect(to: address, on: EventLoop(label: "bench"))
    let rig = Rig(reader: reader, address: address, daemon: daemon)

    let long = try NDEFMessage.uri("https://example.com/" + String(repeating: "a", count: 800)).encoded()
    results += try await rig.measure("waiting for a tag", ends, tag: nil) { _ in }
    results += try await rig.measure("reading 820 bytes of an NTAG216", ends) { _ = try await $0.readNDEF() }
    results += try await rig.measure("writing them", ends) { try await $0.writeNDEF(long) }
    results += try await rig.measure("locking", ends) { try await $0.lock() }
    results += try await rig.measure("sending a command of its own", ends) {
      _ = try await $0.transceive([0x30, 0x04])
    }
    for delay in [900, 2900] {
      let name = "sending one that is answered after \(delay) ms"
      results += try await rig.measure(name, max(ends / 5, 1), answerAfter: .milliseconds(delay)) {
        _ = try await $0.transceive([0x30, 0x04], timeout: .milliseconds(delay + 100))
      }
    }
    await polkit.stop()
    await installation.stop()
    await reader.stop()
  }

  private struct Rig {
    let reader: SimulatedReader
    let address: BusAddress
    let daemon: DaemonClient

    /// Measures `ends` deaths of the client during `work`. `delay` is the delay of the tag's first answer; without a
    /// tag, the reader is empty.
    func measure(
      _ name: String, _ ends: Int, tag: BenchmarkTag? = BenchmarkTag.all.first { $0.name.contains("NTAG216") },
      answerAfter delay: Duration? = nil, _ work: @escaping @Sendable (ReaderTag) async throws -> Void
    ) async throws -> Results.Series {
      var times: [Duration] = []
      let message = try NDEFMessage.uri("https://example.com/" + String(repeating: "b", count: 800)).encoded()
      for _ in 0..<ends {
        let connection = try await Connection.open(address, on: EventLoop(label: "client"))
        let session = try await ReaderSession.start(ReaderSessionOptions(access: .write), on: connection)
        var events = session.events.makeAsyncIterator()
        guard await events.next() == .activated else { throw RigError("the session did not begin") }
        var working: Task<Void, Never>?
        if let tag {
          await reader.place(try tag.make(message))
          guard case .tagDetected(let found)? = await events.next() else { throw RigError("no tag was found") }
          if let delay { await reader.add(.radio(.late(delay))) }
          working = Task { try? await work(found) }
        }
        // A random moment of the operation.
        try await Task.sleep(for: .microseconds(Int.random(in: 1000...100_000)))
        let changes = try await daemon.changes()
        let died = SuspendingClock.now
        await connection.close()
        for await _ in changes where try await daemon.status().scanning { break }
        times.append(SuspendingClock.now - died)
        await working?.value
        await reader.removeAll()
        await reader.clearFaults()
      }
      return .init("from the client's death to scanning", times, ["Operation": name])
    }
  }
}
