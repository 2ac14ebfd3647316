import Names
import Bus
import EventLoop
import TagrouteClient

extension Command {
  static let resolve = Command(
    name: "resolve", usage: "resolve URI", summary: "where a link on a tag would go",
    details: """
      Prints the handler that a tag with this URI would be offered to, and why. Nothing is opened.

        --explain   print every step of the decision, and why each app that claims the link won or lost
      """,
    flags: ["explain"], words: 1...1
  ) { arguments, console throws(Failure) in
    let agent = try await Failure.connecting(to: .agent) { () throws(BusError) in
      try await AgentClient.connect(on: EventLoop(label: "tagroute"))
    }
    let resolution: Resolution
    do throws(BusError) {
      resolution = try await agent.resolve(arguments.words[0])
    } catch {
      throw Failure(error, from: .agent)
    }
    let explanation = arguments.has("explain") ? explanation(of: resolution) : []
    try console.answer(
      ResolutionReport(resolution),
      explanation + ["\(resolution.handler ?? resolution.kind): \(resolution.reason)"])
    return 0
  }

  /// Every step, and every app of which none has spoken.
  static func explanation(of resolution: Resolution) -> [String] {
    let untold = resolution.claimants.filter { claimant in !resolution.steps.contains { $0.hasSuffix(claimant.reason) }
    }
    var lines = resolution.steps + untold.map { "claimant: \($0.reason)" }
    if resolution.moreClaimants > 0 { lines.append("claimant: and \(resolution.moreClaimants) more") }
    return lines
  }
}

/// What `resolve` and `monitor` print of an app that claims a link; its keys are what scripts depend on.
struct ClaimantReport: Encodable {
  let id: String
  let claim: String
  let outcome: String
  let trust: String
  @OrNull var rule: String?
  let reason: String

  init(_ claimant: ClaimantDescription) {
    id = claimant.id
    claim = claimant.claim
    outcome = claimant.outcome
    trust = claimant.trust
    rule = claimant.rule
    reason = claimant.reason
  }
}

/// What `resolve` prints; its keys are what scripts depend on.
struct ResolutionReport: Encodable {
  let resolution: Resolution

  init(_ resolution: Resolution) { self.resolution = resolution }

  enum CodingKeys: CodingKey {
    case uri
    case kind
    case handler
    case candidates
    case moreCandidates
    case claimants
    case moreClaimants
    case trusted
    case question
    case reason
    case steps
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(resolution.uri, forKey: .uri)
    try container.encode(resolution.kind, forKey: .kind)
    // Null where there is none: scripts look for the key.
    try container.encode(resolution.handler, forKey: .handler)
    try container.encode(resolution.candidates, forKey: .candidates)
    try container.encode(resolution.moreCandidates, forKey: .moreCandidates)
    try container.encode(resolution.claimants.map(ClaimantReport.init), forKey: .claimants)
    try container.encode(resolution.moreClaimants, forKey: .moreClaimants)
    try container.encode(resolution.trusted, forKey: .trusted)
    try container.encode(resolution.question, forKey: .question)
    try container.encode(resolution.reason, forKey: .reason)
    try container.encode(resolution.steps, forKey: .steps)
  }
}
