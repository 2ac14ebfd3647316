import Bus
import TestKit
import Testing

@testable import MqttSystemTests

/// The connection breaks, or the clock does. Each test prints its line of the table of faults.
@Suite(.timeLimit(.minutes(60)), StopsAtEnd()) struct NetworkFaultTests {
  @Test(arguments: [1, 7, 120])
  func `the connection is cut in the middle of a PUBLISH`(bytes: Int) async throws {
    let stage = try await Stage()
    try await stage.start()
    let taps = (1...3).map { SampleTap($0) }
    try await stage.give(taps[0])
    try await stage.isLive(taps[0])
    let mark = try await stage.proxy.command("cut-publish \(bytes)")
    try await stage.give(taps[1])
    try await stage.proxy.event("cut", after: mark)
    try await stage.give(taps[2])
    let row = try await stage.check("connection cut after \(bytes) bytes of a PUBLISH", taps)
    #expect(row.duplicates == 0)
  }

  @Test func `the connection is cut before the PUBACK and no other comes for a while`() async throws {
    let stage = try await Stage()
    try await stage.start()
    let taps = (1...4).map { SampleTap($0) }
    try await stage.give(taps[0])
    // Now no other message waits for a PUBACK.
    try await stage.isLive(taps[0])
    let mark = try await stage.proxy.command("cut-puback")
    try await stage.give(taps[1])
    try await stage.proxy.event("cut", after: mark)
    let state = try await stage.station.waits { $0.name == "waiting" }
    #expect(!state.reason.isEmpty)
    try await stage.give(taps[2])
    #expect(try await stage.station.outgoing()["waiting"]?.asUInt32 == 2)
    try await stage.proxy.command("open")
    try await stage.station.isConnected()
    try await stage.give(taps[3])
    let row = try await stage.check("PUBACK lost, and the broker away", taps)
    #expect(row.duplicates >= 1)
  }

  @Test func `taps from a clock that was wrong are in the log and not on the live topic`() async throws {
    let stage = try await Stage(settings: ["LiveSeconds=600"])
    try await stage.start()
    // The clock is an hour ahead, is set back too far, and is then right.
    let taps = [
      SampleTap(1), SampleTap(2, age: .seconds(-3600)), SampleTap(3, age: .seconds(3600)), SampleTap(4),
    ]
    for tap in taps { try await stage.give(tap) }
    try await stage.check("taps with a time an hour off, in both directions", taps, live: [taps[0], taps[3]])
  }

  /// The taps have the time of the clock that is set.
  @Test func `the clock of a station is set forward and back`() async throws {
    let clock = try StationClock()
    func set(_ hours: Int) throws { try clock.set(hours * 3600) }
    let stage = try await Stage(settings: ["LiveSeconds=600"], options: clock.options)
    try await stage.start()
    var taps: [SampleTap] = []
    for (number, hours) in [0, 2, -26, 0].enumerated() {
      try set(hours)
      let tap = SampleTap(number + 1, age: .seconds(-3600 * hours))
      taps.append(tap)
      try await stage.give(tap)
      // The live topic shows that the program uses the clock that was set.
      try await stage.isLive(tap)
    }
    // It is set while a tap waits, which is then no longer fresh.
    try await stage.station.endMqtt(15)
    let waiting = SampleTap(5)
    try await stage.give(waiting)
    try set(1)
    try await stage.startMqtt()
    let last = SampleTap(6, age: .seconds(-3600))
    try await stage.give(last)
    try await stage.check(
      "the clock is set 2 hours forward, 28 back, right, and an hour forward while a tap waits",
      taps + [waiting, last], live: taps + [last])
  }

  @Test func `two stations with one client id are told, and lose no tap`() async throws {
    let stage = try await Stage()
    let address = "mqtt://localhost:\(stage.proxy.port)"
    let other = try await MqttStation(broker: address, settings: [Stage.live])
    try await stage.start()
    try await other.startAgent()
    try await other.startMqtt()
    // The broker drops the older connection. The remedy is another name.
    try await stage.station.waits { $0.reason.contains("Station=") }
    let (ours, theirs) = ((1...5).map { SampleTap($0) }, (101...105).map { SampleTap($0) })
    for (one, another) in zip(ours, theirs) {
      try await stage.give(one)
      try await other.give([another])
    }
    try await stage.referee.taps(theirs.map(\.id))
    try await stage.station.endMqtt(15)
    try stage.station.configure(broker: address, station: "desk-2", [Stage.live])
    try await stage.startMqtt()
    try await other.nothingWaits()
    try await stage.check("two stations with one client id, the one that was dropped", ours)
    let row = try await FaultRow(theirs, at: stage.referee)
    row.print("two stations with one client id, the other one")
    #expect(row.received == 5 && row.isInOrder, "\(row)")
  }
}

/// The clock of the agent and of `tagroute-mqtt`, which libfaketime steps.
struct StationClock {
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
    try set(0)
  }

  /// Sets the clock to the right time and this many seconds.
  func set(_ seconds: Int) throws { try directory.write("\(seconds < 0 ? "" : "+")\(seconds)s", to: "clock") }

  var options: Installation.Options {
    var options = Installation.Options()
    options.reader = .others
    options.environment["LD_PRELOAD"] = "/usr/$LIB/faketime/libfaketimeMT.so.1"
    options.environment["FAKETIME_TIMESTAMP_FILE"] = directory.file("clock")
    options.environment["FAKETIME_NO_CACHE"] = "1"
    options.environment["FAKETIME_DONT_FAKE_MONOTONIC"] = "1"
    return options
  }
}
