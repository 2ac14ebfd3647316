import EventLoop
import Glibc
import Presence
import Rig
import Testing

@Suite(.timeLimit(.minutes(5))) struct RadioSwitchesTests {
  /// `struct rfkill_event` (linux/rfkill.h), without the byte that Linux 5.11 appended.
  static func event(_ index: UInt32, _ operation: UInt8, soft: Bool = false, hard: Bool = false) -> [UInt8] {
    withUnsafeBytes(of: index) { Array($0) } + [1, operation, soft ? 1 : 0, hard ? 1 : 0]
  }

  private static func after(_ events: [UInt8]...) -> Bool {
    var switches = RadioSwitches()
    for event in events { switches.handle(event) }
    return switches.isAirplaneMode
  }

  @Test func `airplane mode is on if there are radio switches and all are blocked`() {
    #expect(!Self.after())
    #expect(!Self.after(Self.event(0, 0)))
    #expect(Self.after(Self.event(0, 0, soft: true)))
    #expect(Self.after(Self.event(0, 0, soft: true), Self.event(1, 0, hard: true)))
    #expect(!Self.after(Self.event(0, 0, soft: true), Self.event(1, 0)))
    #expect(Self.after(Self.event(0, 0, soft: true), Self.event(1, 0), Self.event(1, 2, soft: true)))
    #expect(Self.after(Self.event(0, 0, soft: true), Self.event(0x1_0000, 0), Self.event(0x1_0000, 1)))
    #expect(!Self.after(Self.event(0, 0, soft: true), Self.event(0, 1)))
  }

  @Test func `malformed and unknown events are ignored, and longer events are read`() {
    #expect(Self.after(Self.event(0, 0, soft: true), [], [0, 0, 0, 0], Array(Self.event(1, 0).prefix(7))))
    // Unknown operations, and a change of an unknown switch.
    #expect(Self.after(Self.event(0, 0, soft: true), Self.event(0, 3), Self.event(0, 200), Self.event(7, 2)))
    // The longer event of a newer kernel.
    #expect(Self.after(Self.event(0, 0, soft: true) + [0]))
  }

  @Test func `the monitor follows a device`() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.file("rfkill")
    #expect(mkfifo(path, 0o600) == 0)
    let writer = FileDescriptor(owning: open(path, O_RDWR | O_CLOEXEC))
    let (facts, continuation) = AsyncStream.makeStream(of: Fact.self)
    var next = facts.makeAsyncIterator()
    let loop = EventLoop(label: "rfkill")
    let monitor = RadioSwitchMonitor(path, on: loop) { continuation.yield($0) }
    func say(_ bytes: [UInt8]) { #expect(write(writer.rawValue, bytes, bytes.count) == bytes.count) }
    say(Self.event(0, 0) + Self.event(1, 0, hard: true))
    try await monitor.start()
    #expect(await next.next() == .no)
    say(Self.event(0, 2, soft: true))
    #expect(await next.next() == .yes)
    say(Self.event(1, 2))
    #expect(await next.next() == .no)
    await monitor.stop()
  }

  @Test func `without a device the monitor does not start`() async throws {
    let directory = try TemporaryDirectory()
    let monitor = RadioSwitchMonitor(directory.file("rfkill"), on: EventLoop(label: "rfkill")) { _ in }
    await #expect(throws: SystemError.self) { try await monitor.start() }
  }
}
