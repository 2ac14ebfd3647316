import Bus
import Doctor
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
      """
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
    case .appeared, .disappeared, .outgoingAvailable: return nil
    }
  }

  /// The present decision about a tap, for its claimants; nil if it differs from the tap's own decision.
  private static func currentResolution(of tap: TapDescription?, _ agent: AgentClient) async -> Resolution? {
    guard let tap else { return nil }
    guard !tap.uri.isEmpty || tap.reason != nil, let resolution = try? await agent.resolve(tap) else { return nil }
    return resolution.reason == tap.reason && resolution.handler == tap.handler ? resolution : nil
  }
}

/// One line of `monitor`: a text for a person, or an object for a script. Scripts depend on its keys.
struct MonitorEvent: Sendable {
  let text: String
  let json: JSON

  /// Returns why it could not be written.
  func print(_ console: Console) -> Failure? {
    do throws(Failure) {
      if console.json { try console.object(json, onOneLine: true) } else { try console.line(text) }
      return nil
    } catch {
      return error
    }
  }

  static func status(_ report: StatusReport) -> MonitorEvent {
    let readers = report.readers.map { "\($0.numbered): \($0.status.state)" }
    return MonitorEvent(
      text: ([ScanningLine(report.scanning, report.suspendReasons).description] + [report.station].compactMap(\.self)
        + readers).joined(separator: "; "),
      json: [
        "event": "status", "scanning": report.scanning, "suspendReasons": report.suspendReasons,
        "readers": report.readers, "stationUser": report.stationUser, "stationActive": report.stationActive,
      ])
  }

  static let daemonGone = MonitorEvent(text: "the daemon stopped", json: ["event": "daemon-gone"])

  static func tap(_ id: String, _ known: TapDescription?, _ resolution: Resolution?) -> MonitorEvent {
    let tap = known ?? TapDescription()
    let goal = tap.handler.map { " for \(AppID.text($0))" } ?? ""
    let what = "tap \(id): \(tap.uri.isEmpty ? tap.title : tap.uri)\(goal)"
    let reason = resolution?.repeatsClaim == true ? nil : tap.reason
    let reasons = [reason].compactMap(\.self) + (resolution?.claimants ?? []).map(\.reason)
    return MonitorEvent(
      text: ([what] + reasons).joined(separator: "; "),
      json: [
        "event": "tap", "id": id, "time": tap.time, "uri": tap.uri, "title": tap.title, "handler": tap.handler,
        "reason": tap.reason, "claimants": resolution?.claimants, "moreClaimants": resolution?.moreClaimants,
      ])
  }

  static func closed(_ id: String, _ state: String, _ tap: TapDescription?) -> MonitorEvent {
    let reason: String? = tap.flatMap { $0.stateReason.isEmpty ? nil : $0.stateReason }
    // Only of a tap without a link, because such a tap had no `tap` event.
    let title: String? = tap.flatMap { $0.uri.isEmpty && !$0.title.isEmpty ? $0.title : nil }
    return MonitorEvent(
      text: (["tap \(id): \(state)"] + [title, reason].compactMap(\.self)).joined(separator: "; "),
      json: ["event": "tap-closed", "id": id, "state": state, "reason": reason, "title": title])
  }

  static func tagRemoved(_ id: String) -> MonitorEvent {
    MonitorEvent(text: "tap \(id): the tag was removed", json: ["event": "tag-removed", "id": id])
  }

  static func cleared(_ count: UInt32) -> MonitorEvent {
    MonitorEvent(text: "taps removed from the inbox: \(count)", json: ["event": "inbox-cleared", "count": count])
  }
}
