import Bus
import EventLoop
import TagrouteClient

extension Command {
  static let handlers = Command(
    name: "handlers", usage: "handlers", summary: "the apps that take tags, and for which links",
    details: """
      Prints every app whose desktop entry declares that it takes tags, with the domains and schemes it takes. An entry that
      is wrong is printed with what is wrong with it.
      """,
    words: 0...0
  ) { _, console throws(Failure) in
    let agent = try await Failure.connecting(to: .agent) { () throws(BusError) in
      try await AgentClient.connect(on: EventLoop(label: "tagroute"))
    }
    let handlers: [HandlerDescription]
    do throws(BusError) {
      handlers = try await agent.handlers()
    } catch {
      throw Failure(error, from: .agent)
    }
    if console.json {
      try console.object(handlers.map(HandlerReport.init))
      return 0
    }
    if handlers.isEmpty { console.line("no app declares that it takes tags") }
    for handler in handlers {
      let claims = (handler.domains + handler.schemes.map { "\($0):" }).joined(separator: " ")
      console.line("\(handler.id) (\(handler.name)): \(handler.problem.map { "not used: \($0)" } ?? claims)")
    }
    return 0
  }
}

/// What `handlers` prints of each; its keys are what scripts depend on.
struct HandlerReport: Encodable {
  let id: String
  let name: String
  let path: String
  let domains: [String]
  let schemes: [String]
  let trusted: Bool
  let problem: String?

  init(_ handler: HandlerDescription) {
    id = handler.id
    name = handler.name
    path = handler.path
    domains = handler.domains
    schemes = handler.schemes
    trusted = handler.trusted
    problem = handler.problem
  }
}
