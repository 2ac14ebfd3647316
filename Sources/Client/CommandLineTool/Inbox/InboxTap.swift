import Bus
import EventLoop
import NDEF
import Names
import Records
import Settings
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
      ["tap \(tap.shortID): \(opened.words(app: "opened in", program: "started", other: "copied"))"])
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
        let words = now.words(app: "already handed to", program: "has already started", other: "already copied")
        message = "\(words) at \(LocalTime.minute(time))"
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
    // One app is no choice.
    if resolution.question == "whether-allowed", let app = resolution.handler.map(AppID.text) {
      let word = ShellWord.quoted(app)
      let claim = resolution.claimants.first { $0.id == resolution.handler }?.claim
      let always = claim.map { "; to allow it for \($0): tagroute handlers prefer \(word) \(ShellWord.quoted($0))" }
      return Failure(
        message: "tap \(tap.shortID): \(app) needs your permission. To open it once: tagroute inbox open "
          + "\(tap.shortID) --handler \(word)\(always ?? "")", exitCode: Names.ExitCode.tryAgain)
    }
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
    try console.answer(
      ["id": tap.id, "state": "dismissed", "handler": tap.handler] as JSON,
      ["tap \(tap.shortID): dismissed"])
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

  /// The tap for a person: what happened, in order.
  var lines: [String] {
    let uid = tap.uid.isEmpty ? [] : ["UID \(UIDText.text(tap.uid))"]
    let reader = tap.reader.isEmpty ? [] : ["by \(ReaderChoice.text(forPath: tap.reader))"]
    let tag = [tap.technology].filter { !$0.isEmpty } + uid + reader
    return ["tap \(tap.id)", "\(LocalTime.second(tap.time)): read \(tag.joined(separator: ", "))"] + contents
      + [decision].compactMap(\.self) + ["\(tap.stateTime.map { "\(LocalTime.second($0)): " } ?? "")\(state)"]
  }

  private var contents: [String] {
    guard !message.isEmpty else { return ["on the tag: no message"] }
    let records = RecordReport.all(in: message)
    let size = "\(message.count) byte\(message.count == 1 ? "" : "s")"
    let lines = RecordReport.lines(records).map { "  \($0)" }
    // The link in its normal form, if no record is written like that.
    let link = tap.uri.isEmpty || lines.contains { $0.contains(tap.uri) } ? [] : ["  opened as: \(tap.uri)"]
    return ["on the tag: \(size)\(records.isEmpty ? ", not an NDEF message" : "")"] + lines + link
  }

  /// Which app or rule, and why. Nil if the state names it.
  private var decision: String? {
    if let reason = tap.reason { return Self.decision(tap.handler, reason, "goes to") }
    if let now { return "now: \(Self.decision(now.handler, now.reason, "would go to"))" }
    guard ["received", "shown", "expired", "dismissed"].contains(tap.state) else { return nil }
    return tap.handler == nil && tap.program == nil ? nil : tap.words(app: "goes to", program: "would start", other: "")
  }

  /// Most reasons name the app.
  private static func decision(_ handler: String?, _ reason: String, _ verb: String) -> String {
    guard let handler, !reason.contains(AppID.text(handler)) else { return reason }
    return "\(verb) \(AppID.text(handler)): \(reason)"
  }

  private var state: String {
    let words =
      switch tap.state {
      case "shown": "shown in a notification"
      case "opening": tap.words(app: "opening in", program: "starts", other: "opening")
      case "delivered": tap.words(app: "handed to", program: "started", other: "copied, or its network was joined")
      case "failed" where tap.handler != nil: "failed in \(tap.app)"
      // The decision may name the rule already.
      case "failed" where tap.reason == nil && tap.program != nil: "the rule “\(tap.rule ?? "")” failed"
      default: tap.state
      }
    return tap.stateReason.isEmpty ? words : "\(words): \(tap.stateReason)"
  }

  func encode(to encoder: any Encoder) throws {
    try tap.encode(to: encoder)
    var container = encoder.container(keyedBy: JSONKey.self)
    try container.encode(now, forKey: JSONKey(stringValue: "now"))
    try container.encode(RecordReport.all(in: message), forKey: JSONKey(stringValue: "records"))
  }
}
