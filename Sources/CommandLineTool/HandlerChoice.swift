import Names
import Bus
import TagrouteClient

/// `handlers prefer`, `block` and `forget`: what a person chooses about a handler.
enum HandlerChoice: Equatable {
  case prefer(handler: String, claim: String)
  case block(handler: String, claim: String?)
  case forget(handler: String?, claim: String?)

  /// Nil for another command.
  ///
  /// - Parameter arguments: the whole command.
  /// - Throws: a usage failure.
  init?(_ arguments: Arguments) throws(Failure) {
    guard let action = arguments.words.first, ["prefer", "block", "forget"].contains(action) else { return nil }
    let handler = arguments.words.dropFirst().first
    let claim = arguments.words.dropFirst(2).first
    let others = arguments.options.keys.filter { $0 != "json" }
    guard action == "forget" || others.isEmpty else {
      throw .usage("tagroute handlers \(action) has no option --\(others[0])")
    }
    switch (action, handler, claim) {
    case ("prefer", let handler?, let claim?): self = .prefer(handler: handler, claim: claim)
    case ("prefer", _, _): throw .usage("say tagroute handlers prefer ID DOMAIN")
    case ("block", let handler?, let claim): self = .block(handler: handler, claim: claim)
    case ("block", _, _): throw .usage("say tagroute handlers block ID, or block ID DOMAIN")
    case (_, let handler?, let claim) where others.isEmpty: self = .forget(handler: handler, claim: claim)
    case (_, nil, nil) where others == ["all"]: self = .forget(handler: nil, claim: nil)
    case (_, nil, nil) where others == ["domain"]: self = .forget(handler: nil, claim: arguments.options["domain"])
    default: throw .usage("say tagroute handlers forget ID, forget ID DOMAIN, forget --domain DOMAIN or forget --all")
    }
    // Empty means everything on the bus: nobody says that by a variable that is not set.
    if handler == "" || claim == "" || arguments.options["domain"] == "" { throw .usage("an argument is empty") }
  }

  /// Has the agent do it.
  func make(with agent: AgentClient, console: Console) async throws(Failure) -> Int32 {
    do throws(BusError) {
      switch self {
      case .prefer(let handler, let claim): try await agent.prefer(handler, for: claim)
      case .block(let handler, let claim): try await agent.block(handler, for: claim)
      case .forget(let handler, let claim): try await agent.forget(handler, for: claim)
      }
    } catch {
      throw Failure(error, from: .agent)
    }
    try console.answer(HandlerChoiceReport(self))
    return 0
  }
}

/// What `handlers prefer`, `block` and `forget` print; its keys are what scripts depend on.
struct HandlerChoiceReport: Encodable {
  /// `prefer`, `block` or `forget`.
  let action: String
  /// As it was given; null for all.
  @OrNull var handler: String?
  /// As it was given; null for all.
  @OrNull var domain: String?

  init(_ choice: HandlerChoice) {
    switch choice {
    case .prefer(let handler, let claim): (action, self.handler, domain) = ("prefer", handler, claim)
    case .block(let handler, let claim): (action, self.handler, domain) = ("block", handler, claim)
    case .forget(let handler, let claim): (action, self.handler, domain) = ("forget", handler, claim)
    }
  }
}
