import Bus
import Names
import TagrouteClient

/// `handlers prefer`, `block` and `forget`: the user's choices about a handler.
enum HandlerChoice: Equatable {
  case prefer(handler: String, claim: String)
  case block(handler: String, claim: String?)
  case forget(handler: String?, claim: String?)

  /// Nil for another command.
  init?(_ arguments: Arguments) throws(Failure) {
    guard let action = arguments.words.first, ["prefer", "block", "forget"].contains(action) else { return nil }
    let handler = arguments.words.dropFirst().first
    let claim = arguments.words.dropFirst(2).first
    let (domain, isAll) = (arguments.options["domain"], arguments.has("all"))
    // On the bus, an empty text means all. A shell variable that is not set must not mean that.
    if handler == "" || claim == "" || domain == "" { throw .usage("an argument is empty") }
    switch (action, handler, claim) {
    case ("prefer", let handler?, let claim?): self = .prefer(handler: handler, claim: claim)
    case ("prefer", _, _): throw .usage("use tagroute handlers prefer ID DOMAIN")
    case ("block", let handler?, let claim): self = .block(handler: handler, claim: claim)
    case ("block", _, _): throw .usage("use tagroute handlers block ID [DOMAIN]")
    case (_, let handler?, let claim) where domain == nil && !isAll: self = .forget(handler: handler, claim: claim)
    case (_, nil, nil) where isAll != (domain != nil): self = .forget(handler: nil, claim: domain)
    default: throw .usage("use tagroute handlers forget with ID [DOMAIN], with --domain DOMAIN or with --all")
    }
  }

  func make(with agent: AgentClient, console: Console) async throws(Failure) -> Int32 {
    let report = try await Failure.asking(.agent) { () async throws(BusError) -> JSON in
      switch self {
      case .prefer(let handler, let claim):
        try await agent.prefer(handler, for: claim)
        return ["action": "prefer", "handler": handler, "domain": claim]
      case .block(let handler, let claim):
        try await agent.block(handler, for: claim)
        return ["action": "block", "handler": handler, "domain": claim]
      case .forget(let handler, let claim):
        try await agent.forget(handler, for: claim)
        return ["action": "forget", "handler": handler, "domain": claim]
      }
    }
    try console.answer(report)
    return 0
  }
}
