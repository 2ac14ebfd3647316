import EventLoop
import Glibc
import TestKit
import Testing

@testable import ReaderSimulator
@testable import ReaderSimulatorTests

/// A host that opens the line and waits for bytes on its own thread.
private struct Host {
  let descriptor: FileDescriptor

  init(_ path: String) throws {
    let number = open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
    try #require(number >= 0)
    descriptor = FileDescriptor(owning: number)
  }

  func set(_ speed: Int32) throws {
    var settings = termios()
    try #require(tcgetattr(descriptor.rawValue, &settings) == 0)
    cfsetspeed(&settings, speed_t(speed))
    try #require(tcsetattr(descriptor.rawValue, TCSADRAIN, &settings) == 0)
  }

  func send(_ bytes: [UInt8]) { _ = write(descriptor.rawValue, bytes, bytes.count) }

  /// Returns `count` bytes, or fewer if the line is cut.
  func receive(_ count: Int) async throws -> [UInt8] {
    try await DedicatedThread.run { [descriptor] in
      var received: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 512)
      while received.count < count {
        let length = read(descriptor.rawValue, &buffer, min(buffer.count, count - received.count))
        guard length > 0 else { break }
        received += buffer[..<length]
      }
      return received
    }
  }
}

/// A clock that moves only when a test advances it.
private final class ManualClock: SimulatorClock {
  private struct State {
    var now = Duration.zero
    var due: [(at: Duration, loop: EventLoop, body: @Sendable () -> Void)] = []
  }
  private let state = Locked(State())

  var now: Duration { state.withLock { $0.now } }

  func schedule(after delay: Duration, on loop: EventLoop, _ body: @escaping @Sendable () -> Void) {
    state.withLock { $0.due.append(($0.now + delay, loop, body)) }
  }

  /// `isDisorderly` runs timers that are due in reverse order, as late timers may.
  func advance(by duration: Duration, isDisorderly: Bool = false) {
    let due = state.withLock { state in
      state.now += duration
      defer { state.due.removeAll { $0.at <= state.now } }
      return state.due.filter { $0.at <= state.now }.sorted { $0.at < $1.at }
    }
    for item in isDisorderly ? due.reversed() : due { item.loop.execute(item.body) }
  }
}

@Suite(.timeLimit(.minutes(5))) struct SimulatedReaderTests {
  private let firmware = HostFrame.information([0xD4, 0x02]).bytes
  private let firmwareAnswer =
    HostFrame.acknowledge.bytes + HostFrame.information([0xD5, 0x03, 0x32, 0x01, 0x06, 0x07]).bytes

  @Test func `the reader answers on its line`() async throws {
    let reader = try await SimulatedReader.start()
    let host = try Host(await reader.path)
    host.send([0x55, 0x55, 0x00, 0x00, 0x00] + firmware)
    #expect(try await host.receive(firmwareAnswer.count) == firmwareAnswer)
    let counters = await reader.counters
    #expect(counters.commands == 1 && counters.bytesSent == firmwareAnswer.count)
    #expect(await reader.connectionString == "pn532_uart:\(await reader.path)")
    await reader.stop()
  }

  @Test func `a host at another rate is not heard`() async throws {
    let reader = try await SimulatedReader.start()
    let host = try Host(await reader.path)
    host.send(HostFrame.information([0xD4, 0x10, 0x07]).bytes)
    let changed = HostFrame.acknowledge.bytes + HostFrame.information([0xD5, 0x11]).bytes
    #expect(try await host.receive(changed.count) == changed)
    // The host may acknowledge the change at the new rate already.
    try host.set(B921600)
    host.send(HostFrame.acknowledge.bytes + firmware)
    #expect(try await host.receive(firmwareAnswer.count) == firmwareAnswer)
    #expect(await reader.rate == 921_600)
    try host.set(B460800)
    let received = await reader.counters.bytesReceived
    host.send(firmware)
    try await reader.wait { $0.counters.bytesReceived == received + firmware.count }
    #expect(await reader.counters.commands == 2)
    await reader.stop()
  }

  @Test func `hosts can use the line one after another`() async throws {
    let reader = try await SimulatedReader.start()
    for _ in 0..<3 {
      let host = try Host(await reader.path)
      host.send(firmware)
      #expect(try await host.receive(firmwareAnswer.count) == firmwareAnswer)
    }
    await reader.stop()
  }

  @Test func `a host that leaves in the middle of a frame is forgotten`() async throws {
    let clock = ManualClock()
    let reader = try await SimulatedReader.start(clock: clock)
    let host = try Host(await reader.path)
    // The header of a frame that never arrives. The first frame of the next host looks like its contents.
    host.send([0x00, 0x00, 0xFF, 0x40, 0xC0, 0xD4])
    host.send(firmware)
    try await reader.wait(until: { $0.counters.bytesReceived == 6 + 9 })
    #expect(await reader.counters.commands == 0)
    clock.advance(by: .milliseconds(100))
    #expect(try await host.receive(firmwareAnswer.count) == firmwareAnswer)
    await reader.stop()
  }

  @Test func `realistic timing waits for the clock`() async throws {
    let clock = ManualClock()
    let reader = try await SimulatedReader.start(timing: .realistic, clock: clock)
    let host = try Host(await reader.path)
    host.send(firmware)
    try await reader.wait(until: { $0.counters.commands == 1 })
    clock.advance(by: .milliseconds(2))
    #expect(try await host.receive(6) == HostFrame.acknowledge.bytes)
    clock.advance(by: .milliseconds(2))
    #expect(try await host.receive(firmwareAnswer.count - 6) == Array(firmwareAnswer.dropFirst(6)))
    await reader.stop()
  }

  @Test func `late frames keep their order`() async throws {
    let clock = ManualClock()
    let reader = try await SimulatedReader.start(timing: .realistic, clock: clock)
    let host = try Host(await reader.path)
    host.send(firmware)
    try await reader.wait(until: { $0.counters.commands == 1 })
    clock.advance(by: .milliseconds(20), isDisorderly: true)
    #expect(try await host.receive(firmwareAnswer.count) == firmwareAnswer)
    await reader.stop()
  }

  @Test func `unplugging ends the line, and plugging in creates another`() async throws {
    let directory = try TemporaryDirectory()
    let reader = try await SimulatedReader.start(link: directory.file("reader"))
    let id = await reader.place(try type2())
    #expect(await reader.path == directory.file("reader"))
    let host = try Host(directory.file("reader"))
    await reader.unplug()
    #expect(try await host.receive(1) == [])
    #expect(access(directory.file("reader"), F_OK) != 0)
    #expect(await !reader.isPluggedIn)
    try await reader.plug()
    #expect(await reader.tags == [id])
    let next = try Host(directory.file("reader"))
    next.send(firmware)
    #expect(try await next.receive(firmwareAnswer.count) == firmwareAnswer)
    await reader.stop()
  }

  @Test func `a file is not replaced by the link`() async throws {
    let directory = try TemporaryDirectory()
    let path = try directory.write("precious", to: "reader")
    await #expect(throws: SimulatorError.self) { try await SimulatedReader.start(link: path) }
    #expect(try readFile(path) == Array("precious".utf8))
  }

  @Test func `a removed tag can be placed again, with a new id`() async throws {
    let reader = try await SimulatedReader.start()
    let id = await reader.place(try type2())
    #expect(await reader.memory(of: id)?.prefix(3) == uid7[..<3])
    let tag = try #require(await reader.remove(id))
    #expect(await reader.remove(id) == nil)
    let again = await reader.place(tag)
    #expect(again != id)
    #expect(await reader.tags == [again])
    await reader.stop()
  }

  @Test func `garbage on the line does not disturb the next command`() async throws {
    let reader = try await SimulatedReader.start()
    let host = try Host(await reader.path)
    for _ in 0..<50 { host.send((0..<64).map { _ in UInt8.random(in: 0...0xFE) }) }
    host.send(firmware)
    try await reader.wait(until: { $0.counters.bytesReceived == 50 * 64 + 9 })
    #expect(await reader.counters.commands == 1)
    await reader.stop()
  }
}
