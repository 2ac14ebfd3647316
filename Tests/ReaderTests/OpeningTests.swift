import ReaderLink
import ReaderSimulator
import Rig
import Testing

/// Devices that misbehave while they are opened.
@Suite(.timeLimit(.minutes(5))) struct OpeningTests {
  /// Opening takes some 15 commands: each of them fails once.
  @Test(arguments: 1...16) func aFaultWhileADeviceIsOpenedCostsNoProcess(command: Int) async throws {
    let rig = try await ReaderRig(fault: .corruptChecksum(command: command))
    await rig.setScanning(true)
    // A process that crashes ends this with an error.
    try await rig.expect(.scanning(true))
    await rig.simulator.place(try .type2(.ntag213, message: uri("https://example.com")))
    #expect(try await rig.message().message == uri("https://example.com"))
    await rig.stop()
  }

  /// The chip ceases to answer at one of them: that is said, and the process lives.
  @Test(arguments: [1, 5, 9, 13]) func aChipThatHangsWhileItIsOpenedIsAReaderThatHasFailed(command: Int) async throws {
    let rig = try await ReaderRig(fault: .stall(command: command))
    try await rig.next("a reader that has failed") { if case .phase(.failed, _) = $0 { true } else { nil } }
    await rig.simulator.unplug()
    try await rig.simulator.plug()
    await rig.process.lookForDevice()
    try await rig.isReady()
    await rig.stop()
  }
}

/// Devices that are absent while nobody wants tags.
@Suite(.timeLimit(.minutes(5))) struct WaitingTests {
  @Test func aProcessWithoutADeviceSleepsUntilItIsTold() async throws {
    let rig = try await ReaderRig(isPluggedIn: false, isFollowed: true)
    try await rig.next("a reader that is absent") { if case .phase(.absent, _) = $0 { true } else { nil } }
    try await rig.isAsleep()
    try await rig.simulator.plug()
    await rig.process.lookForDevice()
    try await rig.isReady()
    try await rig.isAsleep()
    // It asks the device for a sign of life, and sleeps again.
    let commands = await rig.simulator.counters.commands
    await rig.process.lookForDevice()
    await rig.simulator.wait { $0.counters.commands > commands }
    try await rig.isAsleep()
    await rig.simulator.unplug()
    await rig.process.lookForDevice()
    try await rig.next("a reader that is absent") { if case .phase(.absent, _) = $0 { true } else { nil } }
    try await rig.isAsleep()
    // Nobody says that it is there, but somebody wants tags.
    try await rig.simulator.plug()
    await rig.setScanning(true)
    try await rig.isReady()
    try await rig.expect(.scanning(true))
    await rig.stop()
  }
  @Test func aProcessThatSleepsIsNotWokenWhileAnotherWorks() async throws {
    let absent = try await ReaderRig(isPluggedIn: false, isFollowed: true)
    let suspended = try await ReaderRig()
    try await absent.isAsleep()
    try await suspended.isAsleep()
    let sleepers = [try #require(await absent.process.processID), try #require(await suspended.process.processID)]
    let before = try sleepers.map { try waits(of: $0) }
    let worker = try await ReaderRig.scanning()
    try await worker.commands(60)
    // They have said that they sleep before they did: that is one wait, and being woken would be another.
    for (after, before) in zip(try sleepers.map { try waits(of: $0) }, before) { #expect(after - before <= 1) }
    for rig in [absent, suspended, worker] { await rig.stop() }
  }

  private func status(_ process: Int32) throws -> [Substring] {
    String(decoding: try readFile("/proc/\(process)/status"), as: UTF8.self).split(separator: "\n")
  }

  /// How often a process has gone to sleep by itself.
  private func waits(of process: Int32) throws -> Int {
    let line = try status(process).first { $0.hasPrefix("voluntary_ctxt_switches:") }
    return try #require(line?.split(separator: "\t").last.flatMap { Int($0) })
  }
}
