import Names
import Bus
import EventLoop
import TagrouteClient

extension Command {
  static let monitor = Command(
    name: "monitor", usage: "monitor", summary: "what happens, as it happens",
    details: """
      Prints a line for every change of the daemon and its readers, for every tap of this session with the reason why it goes
      where it goes, and for its end with what kept it from being opened, until it is interrupted. With --json each line is an
      object with the key "event": "status", "daemon-gone", "tap", "tap-closed", "inbox-cleared".
      """,
    words: 0...0
  ) { _, console throws(Failure) in
    let loop = EventLoop(label: "tagroute")
    let daemon = try await Failure.connecting(to: .daemon) { () throws(BusError) in
      try await DaemonClient.connect(on: loop)
    }
    let changes: AsyncStream<Void>
    do throws(BusError) {
      changes = try await daemon.changes()
    } catch {
      throw Failure(error, from: .daemon)
    }
    // Taps are this session's; where there is no session, the daemon's events are worth having all the same.
    let agent = try? await AgentClient.connect(on: loop)
    let taps = try? await agent?.events()
    let failure = await withTaskGroup(of: Failure?.self) { group -> Failure? in
      group.addTask { await follow(daemon, changes, console) }
      if let agent, let taps { group.addTask { await follow(agent, taps, console) } }
      for await failure in group where failure != nil {
        group.cancelAll()
        return failure
      }
      return nil
    }
    if let failure { throw failure }
    return 0
  }

  /// - Returns: what keeps a line from being written; nil at the end of the changes.
  private static func follow(
    _ daemon: DaemonClient, _ changes: AsyncStream<Void>, _ console: Console
  ) async -> Failure? {
    var last: MonitorEvent?
    for await _ in changes {
      let event: MonitorEvent
      do throws(BusError) {
        let status = try await daemon.status()
        event = .status(StatusReport(status, nil))
      } catch {
        event = .daemonGone
      }
      if event != last, let failure = event.print(console) { return failure }
      last = event
    }
    return nil
  }

  private static func follow(
    _ agent: AgentClient, _ events: AsyncStream<AgentClient.Event>, _ console: Console
  ) async -> Failure? {
    for await event in events {
      if let failure = await told(event, agent).print(console) { return failure }
    }
    return nil
  }

  private static func told(_ event: AgentClient.Event, _ agent: AgentClient) async -> MonitorEvent {
    switch event {
    case .received(let id):
      // A tap may be cleared before it is asked for; then its id is all there is to tell.
      let tap = try? await agent.taps(id: id).first
      return .tap(
        id: id, time: tap?.time ?? 0, uri: tap?.uri ?? "", title: tap?.title ?? "", handler: tap?.handler,
        reason: tap?.reason, await claimants(of: tap, agent))
    case .closed(let id, let state):
      let tap = try? await agent.taps(id: id).first
      // What nobody opens was not announced before: then this line is all there is of it.
      let title = tap.flatMap { $0.uri.isEmpty ? $0.title : nil } ?? ""
      return .tapClosed(id: id, state: state, reason: tap?.stateReason ?? "", title: title)
    case .cleared(let count): return .inboxCleared(count: count)
    }
  }

  /// Who claims a tap's link, with the decision that is made of it now; nil where that is another than the tap's.
  private static func claimants(of tap: TapDescription?, _ agent: AgentClient) async -> Resolution? {
    guard let tap, !tap.uri.isEmpty, let resolution = try? await agent.resolve(tap.uri) else { return nil }
    return resolution.reason == tap.reason && resolution.handler == tap.handler ? resolution : nil
  }
}

/// One line of `monitor`.
enum MonitorEvent: Equatable {
  case status(StatusReport)
  case daemonGone
  case tap(id: String, time: UInt64, uri: String, title: String, handler: String?, reason: String?, Resolution?)
  /// The title is empty where there is a link, by which the tap is known.
  case tapClosed(id: String, state: String, reason: String, title: String)
  case inboxCleared(count: UInt32)

  static func == (a: MonitorEvent, b: MonitorEvent) -> Bool { a.text == b.text }

  /// - Returns: why it is not written.
  func print(_ console: Console) -> Failure? {
    do throws(Failure) {
      if console.json { try console.object(self, onOneLine: true) } else { try console.line(text) }
      return nil
    } catch {
      return error
    }
  }

  var text: String {
    switch self {
    case .status(let report):
      let readers = report.readers.map { "\($0.name.isEmpty ? $0.device : $0.name): \($0.state)" }
      return ([report.verdict { $0 }] + readers).joined(separator: "; ")
    case .daemonGone: return "the daemon is gone"
    case .tap(let id, _, let uri, let title, let handler, let reason, let resolution):
      let why = (reason.map { [$0] } ?? []) + (resolution?.claimants.map(\.reason) ?? [])
      return (["tap \(id): \(uri.isEmpty ? title : uri)\(handler.map { " for \($0)" } ?? "")"] + why).joined(
        separator: "; ")
    case .tapClosed(let id, let state, let reason, let title):
      return (["tap \(id): \(state)"] + [title, reason].filter { !$0.isEmpty }).joined(separator: "; ")
    case .inboxCleared(let count): return "removed from the inbox: \(count)"
    }
  }
}

extension MonitorEvent: Encodable {
  enum CodingKeys: CodingKey {
    case event
    case scanning
    case suspendReasons
    case readers
    case id
    case time
    case uri
    case title
    case handler
    case reason
    case claimants
    case moreClaimants
    case state
    case count
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .status(let report):
      try container.encode("status", forKey: .event)
      try container.encode(report.scanning, forKey: .scanning)
      try container.encode(report.suspendReasons, forKey: .suspendReasons)
      try container.encode(report.readers, forKey: .readers)
    case .daemonGone:
      try container.encode("daemon-gone", forKey: .event)
    case .tap(let id, let time, let uri, let title, let handler, let reason, let resolution):
      try container.encode("tap", forKey: .event)
      try container.encode(id, forKey: .id)
      try container.encode(time, forKey: .time)
      try container.encode(uri, forKey: .uri)
      try container.encode(title, forKey: .title)
      try container.encode(handler, forKey: .handler)
      try container.encode(reason, forKey: .reason)
      try container.encode(resolution?.claimants.map(ClaimantReport.init), forKey: .claimants)
      try container.encode(resolution?.moreClaimants, forKey: .moreClaimants)
    case .tapClosed(let id, let state, let reason, let title):
      try container.encode("tap-closed", forKey: .event)
      try container.encode(id, forKey: .id)
      try container.encode(state, forKey: .state)
      try container.encode(reason.isEmpty ? nil : reason, forKey: .reason)
      try container.encode(title.isEmpty ? nil : title, forKey: .title)
    case .inboxCleared(let count):
      try container.encode("inbox-cleared", forKey: .event)
      try container.encode(count, forKey: .count)
    }
  }
}
