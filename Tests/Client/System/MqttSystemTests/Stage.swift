import TestKit
import Testing

/// A real broker, a proxy in front of it, mosquitto_sub as the referee, and one station.
///
/// The station reaches the broker only through the proxy. The referee reaches it directly, so it sees what the broker
/// has received.
struct Stage {
  let broker: Mosquitto
  let proxy: MqttProxy
  let referee: MosquittoSubscriber
  let station: MqttStation

  /// So long that a tap is fresh on any machine.
  static let live = "LiveSeconds=3600"

  /// Starts everything but the agent and `tagroute-mqtt`.
  init(
    _ broker: Mosquitto.Options = Mosquitto.Options(), settings: [String] = [Stage.live],
    options: Installation.Options? = nil, starter: String = #function
  ) async throws {
    self.broker = try await Mosquitto(broker, starter: starter)
    proxy = try await MqttProxy(to: self.broker.socket, starter: starter)
    referee = try await MosquittoSubscriber(
      on: self.broker.socket, user: broker.users["referee"].map { (name: "referee", password: $0) }, starter: starter)
    station = try await MqttStation(
      broker: "mqtt://localhost:\(proxy.port)", settings: settings, options: options, starter: starter)
  }

  /// Starts the agent and `tagroute-mqtt`, and waits until the station is connected, if it can be.
  func start(connected: Bool = true) async throws {
    try await station.startAgent()
    try await station.startMqtt()
    if connected { try await station.isConnected() }
  }

  func startMqtt() async throws {
    try await station.startMqtt()
    try await station.isConnected()
  }

  func give(_ taps: SampleTap...) async throws { try await station.give(taps) }

  /// Waits until the referee has a tap on the live topic.
  func isLive(_ tap: SampleTap) async throws { try await referee.taps([tap.id], on: "/tap") }

  /// Waits until the referee has each tap in the log, and the agent knows that the broker has it.
  func delivered(_ taps: [SampleTap]) async throws {
    try await referee.taps(taps.map(\.id))
    try await station.nothingWaits()
  }
}

/// One line of the table of faults: the messages that the referee has received, compared with the sent ones.
struct FaultRow {
  let sent: Int
  /// How many different taps were in the log.
  let received: Int
  /// How many messages in the log repeated a tap.
  let duplicates: Int
  /// Whether the first messages of the taps came in the order of the taps.
  let isInOrder: Bool
  let live: Set<String>
  /// How many messages on the live topic repeated a tap.
  let liveDuplicates: Int

  /// Prints the head of the table once in a run.
  private static let head: Void = Swift.print(
    "| Fault | Sent | Received | Duplicates | In order | Live |\n|---|---|---|---|---|---|")

  /// Compares the taps that were sent with the messages under one topic. Taps of other stations are left out.
  init(_ taps: [SampleTap], at referee: MosquittoSubscriber) async throws {
    let ids = taps.map(\.id)
    let known = Set(ids)
    let messages = try await referee.messages().filter { !$0.isRetained }
    let logged = messages.filter { $0.topic.hasSuffix("/log") }.compactMap { $0.tap?.tap_id }.filter(known.contains)
    let shown = messages.filter { $0.topic.hasSuffix("/tap") }.compactMap { $0.tap?.tap_id }.filter(known.contains)
    var seen: Set<String> = []
    let order = logged.filter { seen.insert($0).inserted }
    sent = ids.count
    received = order.count
    duplicates = logged.count - order.count
    isInOrder = order == ids.filter(seen.contains)
    live = Set(shown)
    liveDuplicates = shown.count - live.count
  }

  func print(_ fault: String) {
    _ = Self.head
    Swift.print("| \(fault) | \(sent) | \(received) | \(duplicates) | \(isInOrder ? "yes" : "no") | \(live.count) |")
  }
}

extension Stage {
  /// Waits until all taps have arrived, prints the line of the table, and checks it: each tap at least once, in order,
  /// and none on the live topic but those that may be there. The last tap has to be there.
  @discardableResult
  func check(
    _ fault: String, _ taps: [SampleTap], live: [SampleTap]? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> FaultRow {
    try await delivered(taps)
    if let last = taps.last { try await isLive(last) }
    let row = try await FaultRow(taps, at: referee)
    row.print(fault)
    #expect(row.received == taps.count, "\(row)", sourceLocation: sourceLocation)
    #expect(row.isInOrder, "\(row)", sourceLocation: sourceLocation)
    #expect(row.live.isSubset(of: (live ?? taps).map(\.id)), "\(row)", sourceLocation: sourceLocation)
    #expect(row.liveDuplicates == 0, "\(row)", sourceLocation: sourceLocation)
    return row
  }
}
