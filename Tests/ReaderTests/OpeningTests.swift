import ReaderLink
import ReaderSimulator
import Testing

/// Devices that misbehave while they are opened.
@Suite(.timeLimit(.minutes(2))) struct OpeningTests {
  /// Opening takes some 15 commands: each of them fails once.
  @Test(arguments: 1...16) func aFaultWhileADeviceIsOpenedCostsNoProcess(command: Int) async throws {
    let rig = try await ReaderRig(fault: .corruptChecksum(command: command))
    await rig.process.setScanning(true)
    // A process that crashes ends this with an error.
    try await rig.expect(.scanning(true))
    await rig.simulator.place(try .type2(.ntag213, message: uri("https://example.com")))
    #expect(try await rig.message().message == uri("https://example.com"))
    await rig.stop()
  }

  /// The chip ceases to answer at one of them: that is said, and the process lives.
  @Test(arguments: [1, 5, 9, 13]) func aChipThatHangsWhileItIsOpenedIsAReaderThatHasFailed(command: Int) async throws {
    let rig = try await ReaderRig(fault: .stall(command: command))
    try await rig.next("a reader that has failed") { if case .state(.failed) = $0 { true } else { nil } }
    await rig.simulator.unplug()
    try await rig.simulator.plug()
    try await rig.isReady()
    await rig.stop()
  }
}
