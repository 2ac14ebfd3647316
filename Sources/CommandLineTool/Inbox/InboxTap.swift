import Bus
import EventLoop
import Names
import TagrouteClient

/// One tap of the inbox, and what is done with it.
struct InboxTap {
  let inbox: InboxReader
  let tap: TapDescription

  /// - Parameters:
  ///   - inbox: where it is looked for.
  ///   - text: as much of the tap's id as is needed.
  /// - Throws: that there is none, or which are meant.
  init(_ inbox: InboxReader, _ text: String) async throws(Failure) {
    self.inbox = inbox
    tap = try await inbox.tap(text)
  }

  /// `inbox show`.
  func print(_ console: Console) async throws(Failure) {
    let report = StoredTapReport(tap, now: try await decisionOfNow())
    try console.answer(report, report.lines)
  }

  /// Where a link would go now, where nothing else says where it goes: its notification is gone, and no app has it.
  private func decisionOfNow() async throws(Failure) -> Resolution? {
    guard tap.reason == nil, !tap.uri.isEmpty, !["delivered", "opening"].contains(tap.state) else { return nil }
    return try await inbox.call { agent throws(BusError) in try await agent.resolve(tap.uri) }
  }

  /// `inbox open`.
  func open(in handler: String?, _ console: Console) async throws(Failure) {
    do throws(BusError) {
      // Where a launcher has started this, its click is what the app comes to the front by.
      let token = ProcessEnvironment.current["XDG_ACTIVATION_TOKEN"]
      try await inbox.agent.open(tap.id, handler: handler, activationToken: token)
    } catch {
      if error.name == Names.Errors.notPossible, handler == nil, let obstacle = await obstacle(error) { throw obstacle }
      throw await failure(error)
    }
    // It is opened, whatever becomes of this question.
    let opened = (try? await inbox.whole(tap.id)) ?? tap
    try console.answer(
      TapChangeReport(id: tap.id, state: "delivered", handler: opened.handler),
      [opened.handler == nil ? "copied" : "opened in \(opened.app)"])
  }

  /// The tap is what it is about, and often the app whose fault it is, not the agent.
  private func failure(_ error: BusError) async -> Failure {
    var (message, exitCode) = (error.message, Names.ExitCode.failure)
    switch error.name {
    case Names.Errors.failed: break
    case Names.Errors.outcomeUnknown: exitCode = Names.ExitCode.outcomeUnknown
    case Names.Errors.notPossible: exitCode = Names.ExitCode.tryAgain
    case Names.Errors.alreadyDelivered:
      if let now = try? await inbox.whole(tap.id), let time = now.stateTime {
        message = "it was \(now.handler == nil ? "copied" : "handed to \(now.app)") at \(LocalTime.minute(time))"
      }
    default: return Failure(error, from: .agent)
    }
    return Failure(message: "tap \(tap.shortID): \(message)", exitCode: exitCode)
  }

  /// What keeps the tap from being opened, whatever it is tried again; nil where that is over in a moment.
  private func obstacle(_ error: BusError) async -> Failure? {
    guard !tap.uri.isEmpty else { return nobody(error) }
    guard let resolution = try? await inbox.agent.resolve(tap.uri) else { return nil }
    if ["none", "refused"].contains(resolution.kind) { return nobody(error) }
    guard !["nothing", ""].contains(resolution.question) else { return nil }
    let others = resolution.moreCandidates > 0 ? " and \(resolution.moreCandidates) more" : ""
    let candidates = resolution.candidates.joined(separator: ", ") + others
    return Failure(
      message: "tap \(tap.shortID): which app opens it is for you to say: tagroute inbox open \(tap.shortID) "
        + "--handler APP, with one of \(candidates)",
      exitCode: Names.ExitCode.tryAgain)
  }

  /// Nobody takes what is on the tag; nil where it is being opened all the same, in whatever took it once.
  private func nobody(_ error: BusError) -> Failure? {
    guard tap.state != "opening" else { return nil }
    return Failure(message: "tap \(tap.shortID): \(error.message)", exitCode: Names.ExitCode.failure)
  }

  /// `inbox dismiss`.
  func dismiss(_ console: Console) async throws(Failure) {
    do throws(BusError) {
      try await inbox.agent.dismiss(tap.id)
    } catch {
      throw await failure(error)
    }
    try console.answer(TapChangeReport(id: tap.id, state: "dismissed", handler: tap.handler), ["dismissed"])
  }
}

/// What `inbox open` and `inbox dismiss` print; its keys are what scripts depend on.
struct TapChangeReport: Encodable {
  let id: String
  let state: String
  @OrNull var handler: String?
}
