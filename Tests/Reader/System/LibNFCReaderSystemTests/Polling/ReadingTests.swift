import Daemon
import EventLoop
import NDEF
import Names
import ReaderProtocol
import ReaderSimulator
import TestKit
import Testing

@testable import LibNFCReaderTests

/// Tags that arrive, rest and leave, through the real libnfc.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct ReadingTests {
  @Test(arguments: [(false, 20), (true, 30), (true, 400), (true, 3000)])
  func `a tag is read`(isType4: Bool, size: Int) async throws {
    let rig = try await ReaderRig.scanning()
    let record = NDEFRecord(
      typeNameFormat: .wellKnown, type: Array("T".utf8), payload: [UInt8](repeating: 0x41, count: size))
    let bytes = try NDEFMessage(records: [record]).encoded()
    let options = Type4Options { $0.maximumRead = 250 }
    let uid = try TagUID.fixed([4, 1, 2, 3, 4, 5, 6])
    await rig.simulator.place(
      try isType4
        ? .type4(message: bytes, uid: uid, options: options) : .type2(.ntag215, message: bytes, uid: uid))
    let (message, placement) = try await rig.message()
    #expect(message == bytes)
    #expect(placement.technology == (isType4 ? .type4A : .type2))
    #expect(placement.uid == [4, 1, 2, 3, 4, 5, 6])
  }

  /// As over I2C, or on a small computer.
  @Test func `a tag is read through a chip and a host that take their time`() async throws {
    let rig = try await ReaderRig(timing: .realistic.taking(.milliseconds(20)))
    try await rig.scan(true)
    let (id, placement) = try await rig.announces("https://example.com")
    try await rig.takeAway(id, placement)
  }

  @Test func `the removal of a tag is reported and the next tag is read`() async throws {
    let rig = try await ReaderRig.scanning()
    var numbers: [UInt64] = []
    for index in 0..<4 {
      let bytes = try uri("https://example.com/\(index)")
      let tag: SimulatedTag = try index.isMultiple(of: 2) ? .type2(.ntag213, message: bytes) : .type4(message: bytes)
      let id = await rig.simulator.place(tag)
      let (message, placement) = try await rig.message()
      #expect(message == bytes)
      numbers.append(placement.number)
      try await rig.takeAway(id, placement)
    }
    #expect(Set(numbers).count == 4)
  }

  @Test func `a process with a long poll interval is not taken for a hanging one`() async throws {
    let rig = try await ReaderRig(pollInterval: .milliseconds(2500))
    try await rig.scan(true)
    // Wait for the whole pause between the first look and the second.
    try await rig.commands(4)
    try await rig.announces("https://example.com")
  }

  @Test(arguments: [false, true])
  func `a tag keeps its placement during a pause in scanning`(isRandom: Bool) async throws {
    let rig = try await ReaderRig.scanning()
    let uid: TagUID = isRandom ? .random : .generated()
    let id = await rig.simulator.place(try .type4(message: uri("https://example.com"), uid: uid))
    let (_, placement) = try await rig.message()
    for _ in 0..<3 {
      try await rig.scan(false)
      try await rig.scan(true)
      try await rig.commands(30)
    }
    try await rig.takeAway(id, placement)
    #expect(rig.seen.filter { if case .tag = $0 { true } else { false } }.count == 1)
  }

  @Test func `a tag that is removed during a pause is reported as removed after it`() async throws {
    let rig = try await ReaderRig.scanning()
    let (id, placement) = try await rig.announces("https://example.com/1")
    try await rig.scan(false)
    await rig.simulator.remove(id)
    await rig.setScanning(true)
    #expect(try await rig.removal() == placement.number)
  }

  @Test func `a reader that does not scan has its field off and does no work`() async throws {
    let rig = try await ReaderRig.scanning()
    try await rig.announces("https://example.com")
    #expect(await rig.simulator.isFieldOn)
    try await rig.scan(false)
    #expect(await !rig.simulator.isFieldOn)
    // The process sends its last messages after the field is off. Then it sleeps.
    try await rig.isAsleep()
    await rig.simulator.resetCounters()
    try await rig.isAsleep()
    let child = try #require(await rig.process.processID)
    // Another reader, which scans, serves as the clock.
    let other = try await ReaderRig.scanning()
    let before = try await atRest(child, beside: other)
    try await other.commands(20)
    #expect(try status(of: child, "voluntary_ctxt_switches") == before)
    #expect(await rig.simulator.counters.commands == 0)
    #expect(await rig.simulator.counters.fieldOnTime == .zero)
  }

  /// The number of context switches once the process is at rest. A thread that waits for a lock sleeps, too, but only
  /// briefly. The process is therefore at rest if two samples agree.
  private func atRest(_ process: Int32, beside other: ReaderRig) async throws -> [Substring] {
    var before: [Substring] = []
    while true {
      let isAsleep = try status(of: process, "State:").allSatisfy { $0.contains("S (sleeping)") }
      let switches = try status(of: process, "voluntary_ctxt_switches")
      if isAsleep && switches == before { return switches }
      before = switches
      // No event reports this state, so sample it again later.
      try await other.commands(1)
    }
  }

  /// The lines of /proc/PID/status (proc(5)) that contain `part`.
  private func status(of process: Int32, _ part: String) throws -> [Substring] {
    String(decoding: try readFile("/proc/\(process)/status"), as: UTF8.self).split(separator: "\n")
      .filter { $0.contains(part) }
  }
}

/// Readers that fail while they read a tag.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct InterruptedReadingTests {
  @Test func `stopping and restarting scanning drops the tag that is being read`() async throws {
    let rig = try await ReaderRig()
    try await rig.isReady()
    await rig.simulator.place(try .type2(.ntag213, message: uri("https://example.com/before")))
    try await rig.isAsleep()
    await rig.simulator.add(.delay(.milliseconds(300), command: 4))
    await rig.setScanning(true)
    try await rig.simulator.wait { $0.strikes == 1 }
    await rig.setScanning(false)
    try await rig.scan(true)
    try await rig.announcesOnlyWhatComesNow()
  }

  /// A card of these types without NDEF does not answer the first exchange either.
  @Test(arguments: [false, true]) func `a lost radio frame loses no tap`(isFeliCa: Bool) async throws {
    let rig = try await ReaderRig.asleep()
    let bytes = try uri("https://example.com")
    await rig.simulator.place(try isFeliCa ? .type3(message: bytes) : .mifareClassic(.classic1K, message: bytes))
    await rig.simulator.add(.radio(.unheard))
    await rig.setScanning(true)
    #expect(try await rig.message().message == bytes)
    #expect(await rig.simulator.strikes == 1)
  }

  @Test func `a tag is reported as unreadable if the reader fails at each attempt`() async throws {
    let rig = try await ReaderRig()
    try await rig.isReady()
    // The commands that open the device and switch the field off. The next command is the poll.
    try await rig.isAsleep()
    let look = await rig.simulator.counters.commands
    await rig.simulator.unplug()
    await rig.simulator.place(try .type2(.ntag213, message: uri("https://example.com")))
    await rig.setScanning(true)
    try await rig.next("a reader that is absent") { if case .phase(.absent, _) = $0 { true } else { nil } }
    for _ in 1...3 {
      await rig.simulator.add(.unplug(command: look + 2))
      try await rig.simulator.plug()
      try await rig.simulator.wait { !$0.isPluggedIn }
    }
    let report = try await rig.tag()
    guard case .problem(let reason) = report.content else { throw RigError("expected a problem, got \(report)") }
    #expect(reason.hasPrefix("the reader failed at each attempt to read the tag: "))
    try await rig.simulator.plug()
    try await rig.isReady()
    await rig.simulator.removeAll()
    try await rig.announces("https://example.com/2")
  }
}
