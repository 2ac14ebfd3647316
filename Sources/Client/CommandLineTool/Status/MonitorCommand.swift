import Bus
import EventLoop
import Names
import TagrouteClient

extension Command {
  static let monitor = Command(
    name: "monitor", summary: "print each change, and each tap of this session, until interrupted",
    details: """
      A tap has a line with its app and the reason, a line when it ends, and a line
      when its tag is removed. With --json each line is an object with the key
      "event": "status", "daemon-gone", "tap", "tap-closed", "tag-removed" or
      "inbox-cleared".
      """,
    words: 0...0
  ) { _, console throws(Failure) in
    let loop = EventLoop(label: "tagroute")
    let daemon = try await DaemonClient.own(on: loop)
    let changes = try await Failure.asking(.daemon) { () throws(BusError) in try await daemon.changes() }
    // Only taps need the session. Without one, print the daemon's events.
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

  /// Returns why a line could not be written; nil when the changes end.
  private static func follow(
    _ daemon: DaemonClient, _ changes: AsyncStream<Void>, _ console: Console
  ) async -> Failure? {
    var last: String?
    for await _ in changes {
      let event: MonitorEvent
      do throws(BusError) {
        event = .status(StatusReport(try await daemon.status(), nil))
      } catch {
        event = .daemonGone
      }
      if event.text != last, let failure = event.print(console) { return failure }
      last = event.text
    }
    return nil
  }

  private static func follow(
    _ agent: AgentClient, _ events: AsyncStream<AgentClient.Event>, _ console: Console
  ) async -> Failure? {
    for await event in events {
      if let failure = await described(event, agent)?.print(console) { return failure }
    }
    return nil
  }

  private static func described(_ event: AgentClient.Event, _ agent: AgentClient) async -> MonitorEvent? {
    switch event {
    case .received(let id):
      // The tap may be cleared before the agent is asked. Then only its id is known.
      let tap = try? await agent.taps(id: id).first
      return .tap(id, tap, await currentResolution(of: tap, agent))
    case .closed(let id, let state): return .closed(id, state, try? await agent.taps(id: id).first)
    case .removed(let id): return .tagRemoved(id)
    case .cleared(let count): return .cleared(count)
    case .outgoingAvailable: return nil
    }
  }

  /// The present decision about a tap, for its claimants; nil if it differs from the tap's own decision.
  private static func currentResolution(of tap: TapDescription?, _ agent: AgentClient) async -> Resolution? {
    guard let tap else { return nil }
    guard !tap.uri.isEmpty || tap.reason != nil, let resolution = try? await agent.resolve(tap) else { return nil }
    return resolution.reason == tap.reason && resolution.handler == tap.handler ? resolution : nil
  }
}
