import Daemon
import ReaderProtocol
import ReaderSimulator
import TestKit
import Testing

@testable import LibNFCReaderTests

/// Faults while a device is opened.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct OpeningTests {
  /// Opening takes about 15 commands. `EachCommandTests` strikes at each of them.
  @Test(arguments: [1, 5, 9, 13])
  func `a fault while a device is opened does not end the process`(command: Int) async throws {
    let rig = try await ReaderRig(fault: .corruptChecksum(command: command))
    await rig.setScanning(true)
    // If the process crashes, this call throws.
    try await rig.expect(.scanning(true))
    #expect(await rig.simulator.strikes > 0)
    try await rig.announces("https://example.com")
  }

  /// The chip stops answering at one of these commands. The process reports the failure and stays alive.
  @Test(arguments: [1, 5, 9, 13])
  func `a chip that hangs while it is opened is reported as failed`(command: Int) async throws {
    let rig = try await ReaderRig(fault: .stall(command: command))
    try await rig.next("a reader that has failed") { if case .phase(.failed, _) = $0 { true } else { nil } }
    try await rig.plugAgain()
    try await rig.isReady()
  }
}

/// Devices that are absent while no tags are wanted.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct WaitingTests {
  @Test func `a process without a device sleeps until it receives a command`() async throws {
    let rig = try await ReaderRig(isPluggedIn: false, isFollowed: true)
    try await rig.next("a reader that is absent") { if case .phase(.absent, _) = $0 { true } else { nil } }
    try await rig.isAsleep()
    try await rig.simulator.plug()
    await rig.process.lookForDevice()
    try await rig.isReady()
    try await rig.isAsleep()
    // The process checks that the device answers, and sleeps again.
    let commands = await rig.simulator.counters.commands
    await rig.process.lookForDevice()
    try await rig.simulator.wait { $0.counters.commands > commands }
    try await rig.isAsleep()
    await rig.simulator.unplug()
    await rig.process.lookForDevice()
    try await rig.next("a reader that is absent") { if case .phase(.absent, _) = $0 { true } else { nil } }
    try await rig.isAsleep()
    // No event reports the device, but tags are wanted.
    try await rig.simulator.plug()
    await rig.setScanning(true)
    try await rig.isReady()
    try await rig.expect(.scanning(true))
  }

  @Test func `a sleeping process is not woken while another one works`() async throws {
    let absent = try await ReaderRig(isPluggedIn: false, isFollowed: true)
    let suspended = try await ReaderRig()
    try await absent.isAsleep()
    try await suspended.isAsleep()
    let sleepers = [try #require(await absent.process.processID), try #require(await suspended.process.processID)]
    let before = try sleepers.map { try waits(of: $0) }
    let worker = try await ReaderRig.scanning()
    try await worker.commands(60)
    // Each process reports its sleep before it begins. That sleep is one wait. Waking up would add another.
    for (after, before) in zip(try sleepers.map { try waits(of: $0) }, before) { #expect(after - before <= 1) }
  }

  private func status(_ process: Int32) throws -> [Substring] {
    String(decoding: try readFile("/proc/\(process)/status"), as: UTF8.self).split(separator: "\n")
  }

  /// How often a process has gone to sleep voluntarily.
  private func waits(of process: Int32) throws -> Int {
    let line = try status(process).first { $0.hasPrefix("voluntary_ctxt_switches:") }
    return try #require(line?.split(separator: "\t").last.flatMap { Int($0) })
  }
}
