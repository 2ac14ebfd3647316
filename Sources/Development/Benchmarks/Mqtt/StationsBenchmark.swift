import Bus
import EventLoop
import Glibc
import TestKit

/// Many stations and one broker: whether each tap arrives, in which order, how late, and what a station costs.
///
/// Each station is a real `tagroute-mqtt` on a separate bus. A stand-in for its agent has the taps, because so many
/// agents would measure the agents and their disks. First, all stations send the taps that they have read offline, as
/// after an outage. Then each station reads a tap at a random moment of a second, again and again.
struct StationsBenchmark {
  let stations: Int
  let taps: Int
  /// How many of the taps are read while the broker is there.
  private var live: Int { max(1, taps / 50) }

  private struct Station: Sendable {
    let number: Int
    let bus: PrivateBus
    let outbox: OutboxStandIn
    let process: ChildProcess
    let directory: TemporaryDirectory

    func tap(_ index: Int) -> SampleTap { SampleTap(number * 1_000_000 + index) }
  }

  func run(_ results: inout Results) async throws {
    try await BenchmarkPrograms.build(and: ["tagroute-mqtt"])
    var options = Mosquitto.Options()
    (options.hasPort, options.isPersistent) = (true, false)
    let mosquitto = try await Mosquitto(options)
    let referee = try await MosquittoSubscriber(on: mosquitto.socket)
    var all: [Station] = []
    let started = ContinuousClock.now
    for number in 1...stations { all.append(try await start(number, port: mosquitto.port)) }

    let outage = taps - live
    try await referee.taps(all.flatMap { station in (1...outage).map { station.tap($0).id } })
    for station in all { await station.outbox.isEmpty() }
    let duration = (ContinuousClock.now - started) / .seconds(1)
    let labels: KeyValuePairs = ["Stations": "\(stations)"]
    results += [
      Results.Series("taps of an outage", Double(stations * outage), "", labels),
      Results.Series("sent in, with the start", duration, "s", labels),
    ]

    let given = try await giveLive(all, from: outage + 1)
    try await referee.taps(given.keys)
    for station in all { await station.outbox.isEmpty() }
    results += try await report(all, referee, given, labels)
    results += Results.Series(
      "private and written, of each", try all.map { Double(try ProcessMemory(of: $0.process.identifier).written) },
      "kB", labels)
    if let broker = await mosquitto.identifier {
      results += Results.Series("of mosquitto", Double(try ProcessMemory(of: broker).written), "kB", labels)
    }
    for station in all { station.process.signal(SIGTERM) }
    for station in all { try await station.process.exit() }
    for station in all { try await station.bus.stop() }
    try await mosquitto.kill()
  }

  /// Starts a station that has the taps of the outage.
  private func start(_ number: Int, port: UInt16) async throws -> Station {
    let bus = try await PrivateBus.start()
    let directory = try TemporaryDirectory()
    try directory.write(
      "[Mqtt]\nBroker=mqtt://localhost:\(port)\nStation=desk-\(number)\n", to: "config/tagroute/mqtt.conf", mode: 0o600)
    let outbox = try await OutboxStandIn.start(on: BusAddress(bus.address))
    for index in 1...(taps - live) {
      try await outbox.store(SampleTap(number * 1_000_000 + index, age: .seconds(3600)))
    }
    let process = try ChildProcess(
      BuiltProducts.program("tagroute-mqtt"),
      environment: [
        "HOME": directory.path, "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TAGROUTE_LOG": "notice",
        "XDG_CONFIG_HOME": directory.file("config"), "DBUS_SESSION_BUS_ADDRESS": bus.address,
        "DBUS_SYSTEM_BUS_ADDRESS": bus.address,
      ])
    return Station(number: number, bus: bus, outbox: outbox, process: process, directory: directory)
  }

  /// Reads one tap per station and second. Returns when each was stored, by its id.
  private func giveLive(_ all: [Station], from first: Int) async throws -> [String: ContinuousClock.Instant] {
    try await withThrowingTaskGroup(of: [String: ContinuousClock.Instant].self) { group in
      for station in all {
        group.addTask {
          var given: [String: ContinuousClock.Instant] = [:]
          for index in first...taps {
            try await Task.sleep(for: .milliseconds(Int.random(in: 500...1500)))
            let tap = station.tap(index)
            given[tap.id] = .now
            try await station.outbox.store(tap)
          }
          return given
        }
      }
      return try await group.reduce(into: [:]) { $0.merge($1) { first, _ in first } }
    }
  }

  private func report(
    _ all: [Station], _ referee: MosquittoSubscriber, _ given: [String: ContinuousClock.Instant],
    _ labels: KeyValuePairs<String, String>
  ) async throws -> [Results.Series] {
    let messages = try await referee.messages().filter { $0.tap != nil }
    var order: [String: [String]] = [:]
    for message in messages where message.topic.hasSuffix("/log") {
      if let tap = message.tap { order[tap.station, default: []].append(tap.tap_id) }
    }
    var (arrived, duplicates, inOrder) = (0, 0, 0)
    for station in all {
      let ids = order["desk-\(station.number)"] ?? []
      var seen: Set<String> = []
      let first = ids.filter { seen.insert($0).inserted }
      arrived += first.count
      duplicates += ids.count - first.count
      inOrder += first == (1...taps).map { station.tap($0).id } ? 1 : 0
    }
    let live = Set(messages.filter { $0.topic.hasSuffix("/tap") }.compactMap { $0.tap?.tap_id })
    var latencies: [Duration] = []
    for station in all {
      for (id, time) in await station.outbox.acknowledged {
        if let start = given[id] { latencies.append(time - start) }
      }
    }
    return [
      .init("arrived", Double(arrived), "", labels), .init("twice", Double(duplicates), "", labels),
      .init("stations in order", Double(inOrder), "", labels), .init("live", Double(live.count), "", labels),
      .init("of them stale", Double(live.subtracting(given.keys).count), "", labels),
      .init("live, stored to acknowledged", latencies, labels),
    ]
  }
}
