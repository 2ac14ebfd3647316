import Bus
import Glibc
import TestKit

/// The time until a local broker has a tap, from a tag on the reader and from a tap at the agent. mosquitto_pub and
/// paho use the same broker, for comparison. And the cost of an idle `tagroute-mqtt`.
///
/// For a tap at the agent, the clock of a tap starts before the call of `TagRead`, so it includes the commit of the
/// inbox. It ends when the agent has no tap that waits. mosquitto_pub starts a process and connects for each message;
/// paho keeps its connection, and stores no data.
struct MqttBenchmark {
  let taps: Int
  private let idleSeconds = 30

  func run(_ results: inout Results) async throws {
    try await BenchmarkPrograms.build(and: ["tagroute-mqtt"])
    var broker = Mosquitto.Options()
    (broker.hasPort, broker.isPersistent) = (true, false)
    let mosquitto = try await Mosquitto(broker)
    var options = Installation.Options()
    options.reader = .others
    options.environment["TAGROUTE_LOG"] = "notice"
    let station = try await MqttStation(broker: "mqtt://localhost:\(mosquitto.port)", options: options)
    try await station.startAgent()
    try await station.startMqtt()
    try await station.isConnected()
    let referee = try await MosquittoSubscriber(on: mosquitto.socket)

    for (way, times) in [
      ("a tag on the reader to another subscriber", try await fromTag(mosquitto, referee)),
      ("TagRead to acknowledged in the agent", try await ours(station)),
      ("TagRead to another subscriber", try await atSubscriber(referee)),
      ("mosquitto_pub -q 1, from start to end", try await publisher(mosquitto)),
      ("paho, connected before, to PUBACK", try await paho(mosquitto)),
    ] {
      results += Results.Series("time", times, ["From": way])
    }
    results += try await idleCost(station)
    results += try await outage(station, mosquitto, referee)
    await station.stop()
    try await mosquitto.kill()
  }

  /// From a tag that is placed on the simulated reader, through the real daemon. By the wall clock, since mosquitto_sub
  /// prints that.
  private func fromTag(_ mosquitto: Mosquitto, _ referee: MosquittoSubscriber) async throws -> [Duration] {
    let options = Installation.Options()
    let station = try await MqttStation("door", broker: "mqtt://localhost:\(mosquitto.port)", options: options)
    try await station.installation.startSimulator()
    try await station.installation.startDaemon()
    try await station.startAgent()
    try await station.startMqtt()
    try await station.isConnected()
    guard let daemon = await station.installation.daemon else { throw RigError("the daemon does not run") }
    _ = try await daemon.line { $0.hasSuffix(": scanning") }
    var latencies: [Duration] = []
    for number in 1...taps {
      let (mark, seen) = (await referee.mark(), await daemon.log().count)
      let start = SampleTap.now
      try await station.installation.simulate("tap https://menu.example.com/table/\(number)")
      let message = try await referee.message(after: mark) { $0.topic == "tagroute/door/log" }
      latencies.append(.microseconds(message.time - start))
      try await station.installation.simulate("remove")
      _ = try await daemon.line(after: seen) { $0.hasSuffix("its tag was removed") }
    }
    await station.stop()
    return latencies
  }

  private func ours(_ station: MqttStation) async throws -> [Duration] {
    var latencies: [Duration] = []
    for number in 1...taps {
      let tap = SampleTap(number)
      let start = SuspendingClock.now
      try await station.give([tap])
      // No signal reports that.
      while try await station.outgoing()["waiting"]?.asUInt32 != 0 {}
      latencies.append(SuspendingClock.now - start)
    }
    return latencies
  }

  /// By the wall clock, since mosquitto_sub prints that.
  private func atSubscriber(_ referee: MosquittoSubscriber) async throws -> [Duration] {
    try await referee.taps((1...taps).map { SampleTap($0).id })
    return try await referee.messages().compactMap { message in
      guard message.topic == "tagroute/desk/log", let tap = message.tap, let read = TapTime.microseconds(tap.time)
      else { return nil }
      return .microseconds(message.time - read)
    }
  }

  private func publisher(_ mosquitto: Mosquitto) async throws -> [Duration] {
    var latencies: [Duration] = []
    for number in 1...taps {
      let start = SuspendingClock.now
      try await mosquitto.publish("{\"tap_id\": \"\(number)\"}", to: "peer/log")
      latencies.append(SuspendingClock.now - start)
    }
    return latencies
  }

  private func paho(_ mosquitto: Mosquitto) async throws -> [Duration] {
    let script = "Sources/Development/Benchmarks/Mqtt/paho-publisher.py"
    guard access(script, R_OK) == 0 else { throw RigError("\(script) is not here: start this in the package's folder") }
    let run = try await ChildProcess.run("/usr/bin/python3", [script, "\(mosquitto.port)", "\(taps)"])
    guard run.status == .exited(0) else { throw RigError("paho: \(run.log.suffix(5))") }
    return run.output.split(separator: "\n").compactMap { Int64($0).map(Duration.microseconds) }
  }

  /// Many taps while the broker is stopped, and how long they take afterwards.
  private func outage(
    _ station: MqttStation, _ mosquitto: Mosquitto, _ referee: MosquittoSubscriber
  ) async throws -> [Results.Series] {
    let offline = (1...10_000).map { SampleTap(100_000 + $0) }
    await mosquitto.signal(SIGSTOP)
    try await station.give(offline)
    await mosquitto.signal(SIGCONT)
    let start = ContinuousClock.now
    try await referee.taps(offline.map(\.id))
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    let known = Set(offline.map(\.id))
    let ids = try await referee.messages().filter { $0.topic.hasSuffix("/log") }.compactMap { $0.tap?.tap_id }
    let arrived = ids.filter(known.contains)
    var seen: Set<String> = []
    let first = arrived.filter { seen.insert($0).inserted }
    let labels: KeyValuePairs = ["While the broker was stopped": "\(offline.count) taps"]
    return [
      .init("arrived", Double(first.count), "", labels), .init("in", seconds, "s", labels),
      .init("twice", Double(arrived.count - first.count), "", labels),
      .init("out of order", Double(zip(first, offline.map(\.id)).count { $0 != $1 }), "", labels),
    ]
  }

  private func idleCost(_ station: MqttStation) async throws -> [Results.Series] {
    guard let process = await station.mqtt?.identifier else { throw RigError("tagroute-mqtt does not run") }
    let before = (try ProcessorTime.of(process), try ForeignProcess(process).wakeUps())
    try await Task.sleep(for: .seconds(idleSeconds))
    let time = try ProcessorTime.of(process) - before.0
    let wakeUps = try ForeignProcess(process).wakeUps().reduce(0) { $0 + $1.value - before.1[$1.key, default: 0] }
    let labels: KeyValuePairs = ["Idle and connected for \(idleSeconds) s": "tagroute-mqtt"]
    return try ProcessMemory(of: process).series(labels) + [
      .init("processor time", time / .seconds(idleSeconds) * 100, "% of a core", labels),
      .init("wake-ups", Double(wakeUps), "", labels),
    ]
  }
}

/// The time in a payload.
enum TapTime {
  /// `2026-11-27T08:12:32.123Z` in microseconds since 1970; nil for another form.
  static func microseconds(_ text: String) -> Int64? {
    let numbers = text.split { !$0.isWholeNumber }.compactMap { Int64($0) }
    guard numbers.count == 7 else { return nil }
    var parts = tm()
    (parts.tm_year, parts.tm_mon, parts.tm_mday) = (Int32(numbers[0] - 1900), Int32(numbers[1] - 1), Int32(numbers[2]))
    (parts.tm_hour, parts.tm_min, parts.tm_sec) = (Int32(numbers[3]), Int32(numbers[4]), Int32(numbers[5]))
    return Int64(timegm(&parts)) * 1_000_000 + numbers[6] * 1000
  }
}
