import Bus
import EventLoop
import TagrouteClient

extension Command {
  static let resolve = Command(
    name: "resolve", usage: "resolve URI", summary: "where a link on a tag would go",
    details: """
      Prints the handler that a tag with this URI would be offered to, and why. Nothing is opened.

        --explain   print every step of the decision
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
    if console.json {
      try console.object(ResolutionReport(resolution))
      return 0
    }
    if arguments.has("explain") {
      for step in resolution.steps { console.line(step) }
    }
    console.line("\(resolution.handler ?? resolution.kind): \(resolution.reason)")
    return 0
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
    case trusted
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
    try container.encode(resolution.trusted, forKey: .trusted)
    try container.encode(resolution.reason, forKey: .reason)
    try container.encode(resolution.steps, forKey: .steps)
  }
}
