import Bus
import EventLoop
import NDEF
import Names
import TagrouteClient

struct InboxTap {
  let inbox: InboxReader
  let tap: TapDescription

  /// The text is the tap's id, or a unique beginning of it.
  init(_ inbox: InboxReader, _ text: String) async throws(Failure) {
    self.inbox = inbox
    tap = try await inbox.tap(text)
  }

  /// `inbox show`.
  func print(_ console: Console) async throws(Failure) {
    let report = StoredTapReport(tap, now: await decisionOfNow())
    try console.answer(report, report.lines)
  }

  /// The current decision about the tag. Nil if the tap still has its reason, if an app has it, or if the
  /// agent refuses its link or cannot decide about its message.
  private func decisionOfNow() async -> Resolution? {
    guard tap.reason == nil, !["delivered", "opening"].contains(tap.state) else { return nil }
    let decision = try? await inbox.agent.resolve(tap)
    return decision?.kind == "refused" ? nil : decision
  }

  /// `inbox open`.
  func open(in handler: String?, _ console: Console) async throws(Failure) {
    var app: String?
    if let handler { app = try await KnownApps.of(inbox.agent).id(of: handler) }
    do throws(BusError) {
      // If a launcher started this program, its token brings the app to the front.
      let token = ProcessEnvironment.current["XDG_ACTIVATION_TOKEN"]
      try await inbox.agent.open(tap.id, handler: app, activationToken: token)
    } catch {
      if error.name == Names.Errors.notPossible, handler == nil, let obstacle = await obstacle(error) { throw obstacle }
      throw await failure(error)
    }
    // The tap is opened, even if this call fails.
    let opened = (try? await inbox.whole(tap.id)) ?? tap
    try console.answer(
      ["id": tap.id, "state": "delivered", "handler": opened.handler] as JSON,
      [opened.handler == nil ? "copied" : "opened in \(opened.app)"])
  }

  /// The message names the tap rather than the agent, because the cause is often the app.
  private func failure(_ error: BusError) async -> Failure {
    var (message, exitCode) = (error.message, Names.ExitCode.failure)
    switch error.name {
    case Names.Errors.failed: break
    case Names.Errors.outcomeUnknown: exitCode = Names.ExitCode.outcomeUnknown
    case Names.Errors.notPossible: exitCode = Names.ExitCode.tryAgain
    case Names.Errors.alreadyDelivered:
      if let now = try? await inbox.whole(tap.id), let time = now.stateTime {
        message = "already \(now.handler == nil ? "copied" : "handed to \(now.app)") at \(LocalTime.minute(time))"
      }
    default: return Failure(error, from: .agent)
    }
    return Failure(message: "tap \(tap.shortID): \(message)", exitCode: exitCode)
  }

  /// Why the tap cannot be opened in this way at all; nil if the obstacle is temporary.
  private func obstacle(_ error: BusError) async -> Failure? {
    guard let resolution = try? await inbox.agent.resolve(tap) else { return tap.uri.isEmpty ? nobody(error) : nil }
    if ["none", "refused"].contains(resolution.kind) { return nobody(error) }
    guard !["nothing", ""].contains(resolution.question) else { return nil }
    let others = resolution.moreCandidates > 0 ? " and \(resolution.moreCandidates) more" : ""
    let candidates = resolution.candidates.map(AppID.text).joined(separator: ", ") + others
    return Failure(
      message: "tap \(tap.shortID): choose the app that opens it: tagroute inbox open \(tap.shortID) "
        + "--handler APP, where APP is one of \(candidates)",
      exitCode: Names.ExitCode.tryAgain)
  }

  /// The failure if no app takes the content of the tag. Nil if the tap is being opened anyway.
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
    try console.answer(["id": tap.id, "state": "dismissed", "handler": tap.handler] as JSON, ["dismissed"])
  }
}

/// The tap that `inbox show` and `inbox export --all` print. Scripts depend on its keys.
struct StoredTapReport: Encodable {
  let tap: TapDescription
  private let message: [UInt8]
  /// The current decision about its link; nil if the agent was not asked.
  let now: Resolution?

  init(_ tap: TapDescription, now: Resolution? = nil) {
    message = tap.message ?? []
    var whole = tap
    whole.message = message
    self.tap = whole
    self.now = now
  }

  /// The tap for a person: tag, link, state, app and records.
  var lines: [String] {
    var lines = ["\(tap.id): \(tap.title)"]
    let tag = [tap.technology, UIDText.text(tap.uid)].filter { !$0.isEmpty }.joined(separator: " ")
    let reader = tap.reader.isEmpty ? "" : ", by \(ReaderChoice.text(forPath: tap.reader))"
    lines.append("read: \(LocalTime.second(tap.time)), \(tag)\(reader)")
    if !tap.uri.isEmpty { lines.append("link: \(tap.uri)") }
    let since = tap.stateTime.map { " since \(LocalTime.second($0))" } ?? ""
    lines.append("state: \(tap.state)\(since)\(tap.stateReason.isEmpty ? "" : ": \(tap.stateReason)")")
    if let goal { lines.append(goal) }
    guard !message.isEmpty else { return lines + ["message: none"] }
    let records = RecordReport.all(in: message)
    let size = "\(message.count) byte\(message.count == 1 ? "" : "s")"
    lines.append("message: \(size)\(records.isEmpty ? ", not an NDEF message" : "")")
    return lines + RecordReport.lines(records).map { "  \($0)" }
  }

  private var goal: String? {
    if let reason = tap.reason { return "goes to: \(tap.handler.map(AppID.text) ?? "no app"), \(reason)" }
    if let now { return "would go to: \(now.handler.map(AppID.text) ?? "no app"), \(now.reason)" }
    return tap.handler.map { "\(tap.state == "delivered" ? "was handed to" : "goes to"): \(AppID.text($0))" }
  }

  func encode(to encoder: any Encoder) throws {
    try tap.encode(to: encoder)
    var container = encoder.container(keyedBy: JSONKey.self)
    try container.encode(now, forKey: JSONKey(stringValue: "now"))
    try container.encode(RecordReport.all(in: message), forKey: JSONKey(stringValue: "records"))
  }
}
