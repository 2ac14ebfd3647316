import Names
import Bus
import TagrouteClient

extension Command {
  static let resolve = Command(
    name: "resolve", summary: "show where a tag with this link would go, and why", arguments: "URI",
    details: "Opens no app.",
    options: [.init("explain", "print every step, and why each app that claims the link won or lost")],
    words: 1...1
  ) { arguments, console throws(Failure) in
    let agent = try await AgentClient.own()
    let resolution = try await Failure.asking(.agent) { () throws(BusError) in
      try await agent.resolve(arguments.words[0])
    }
    let explanation = arguments.has("explain") ? explanation(of: resolution) : []
    try console.answer(
      resolution, explanation + ["\(resolution.handler ?? resolution.kind): \(resolution.reason)"])
    return 0
  }

  /// Every step, and every claimant that no step mentions.
  static func explanation(of resolution: Resolution) -> [String] {
    let untold = resolution.claimants.filter { claimant in !resolution.steps.contains { $0.hasSuffix(claimant.reason) }
    }
    var lines = resolution.steps + untold.map { "claimant: \($0.reason)" }
    if resolution.moreClaimants > 0 { lines.append("claimant: and \(resolution.moreClaimants) more") }
    return lines
  }
}
