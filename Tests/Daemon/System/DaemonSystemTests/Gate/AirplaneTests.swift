import Bus
import EventLoop
import Glibc
import TestKit
import Testing

/// The real `tagrouted` and the rfkill switches of the machine's radios.
@Suite(.timeLimit(.minutes(5))) struct AirplaneTests {
  /// A `struct rfkill_event` (linux/rfkill.h) about a Bluetooth switch.
  private static func event(_ index: UInt8, _ operation: UInt8, isBlocked: Bool) -> [UInt8] {
    (UInt16(littleEndian: 1) == 1 ? [index, 0, 0, 0] : [0, 0, 0, index]) + [2, operation, isBlocked ? 1 : 0, 0]
  }

  @Test func `scanning stops while every radio is off`() async throws {
    let devices = try TemporaryDirectory()
    #expect(mkfifo(devices.file("rfkill"), 0o600) == 0)
    // Open for reading and writing, so that the daemon never reads an end of file.
    let writer = FileDescriptor(owning: open(devices.file("rfkill"), O_RDWR | O_CLOEXEC))
    func say(_ bytes: [UInt8]) { #expect(write(writer.rawValue, bytes, bytes.count) == bytes.count) }
    say(Self.event(0, 0, isBlocked: true) + Self.event(1, 0, isBlocked: false))
    let rig = try await DaemonRig(environment: ["TAGROUTE_DEV": devices.path])
    let agent = try await rig.startScanning()
    say(Self.event(1, 2, isBlocked: true))
    try await rig.scanning(false)
    #expect(try await agent.property("SuspendReasons")?.asStrings == ["airplane-mode"])
    // The agent's report does not override the radio switches.
    try await agent.report(["airplane-mode": false])
    #expect(try await agent.property("SuspendReasons")?.asStrings == ["airplane-mode"])
    say(Self.event(0, 1, isBlocked: true) + Self.event(1, 2, isBlocked: false))
    try await rig.scanning(true)
  }
}
