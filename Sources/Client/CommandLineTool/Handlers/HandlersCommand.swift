import Bus
import Handlers
import Names
import TagrouteClient

extension Command {
  static let handlers = Command(
    name: "handlers", summary: "list and check the apps that take tags, and choose between them",
    details: """
      ID is an app's id, such as org.example.Menu, or its name. DOMAIN is a domain, *.
      and a domain (for all hosts below it), a scheme and a colon, or a type of
      records. It must be within the app's claims. If two choices cover a link, the
      more exact DOMAIN wins. The agent keeps the choices.

      --check prints FILE:LINE:COLUMN, the error and the fix. With FILE it checks a
      desktop entry that is not installed yet, or a file of path rules, and needs no
      agent. Exit code 1: there is an error.

      verify asks for https://DOMAIN/.well-known/apple-app-site-association and
      assetlinks.json. An app that its domain names opens the domain's links without
      a question. Exit code 0: all domains name the app; 1: one does not; 75: one did
      not answer.
      """,
    severalForms: [
      .init(
        nil, "", "list the apps, their links and your choices",
        [.init("check", "read the desktop entries again, and print only errors", formArguments: "[FILE]")]),
      .init(
        "verify", "ID", "ask each domain that the app claims whether it names the app",
        [
          .init("server", "ADDRESS:PORT", "ask this server instead of the domains, and keep no answers"),
          .init("authorities", "FILE", "use these certificate authorities (PEM), and keep no answers"),
          .init("due", "ask all domains with an expired answer, for apps from a store", formArguments: ""),
        ]),
      .init("prefer", "ID DOMAIN", "open such links with this app, without a question, which also allows it"),
      .init("block", "ID [DOMAIN]", "never offer the app for such links, or for any link"),
      .init(
        "forget", "ID [DOMAIN]", "undo the choices about an app",
        [
          .init("domain", "DOMAIN", "undo the choices about such links, for all apps", formArguments: ""),
          .init("all", "undo all choices", formArguments: ""),
        ]),
    ]
  ) { arguments, console throws(Failure) in
    let checks = arguments.has("check")
    if checks, let file = arguments.words.first {
      let problems = HandlerCheck.problems(in: file) + [HandlerCheck.missing(for: file)].compactMap(\.self)
      return try report(problems.map(HandlerDescription.init), console)
    }
    let fetching = try AssociationFetcher.Options(arguments)
    let agent = try await AgentClient.own()
    if let choice = HandlerChoice(arguments) { return try await choice.make(with: agent, console: console) }
    if arguments.words.first == "verify" {
      let verification = try HandlerVerification(agent: agent, fetching, console: console)
      guard let id = arguments.words.dropFirst().first else { return try await verification.refreshDue() }
      return try await verification.verify(id)
    }
    let handlers = try await Failure.asking(.agent) { () throws(BusError) in
      if checks { try await agent.reloadHandlers() }
      return try await agent.handlers()
    }
    if checks {
      let missing = handlers.filter { $0.problem == nil }.compactMap { HandlerCheck.missing(for: $0.path, id: $0.id) }
      return try report(
        handlers.filter { $0.problem != nil } + missing.map(HandlerDescription.init), console)
    }
    let lines = handlers.flatMap(lines)
    try console.answer(
      handlers, lines.isEmpty ? ["no app is registered for tags"] : lines)
    return 0
  }

  private static func lines(_ handler: HandlerDescription) -> [String] {
    let links = handler.domains + handler.schemes.map { "\($0):" }
    let claims = (links + handler.mimeTypes + handler.externalTypes).joined(separator: " ")
    let name = KnownApps([handler]).text(handler.id)
    let problem = handler.problem.map { "error, \(handler.line.map { "line \($0): " } ?? "")\($0)" }
    let choices = [("preferred", handler.preferred), ("allowed", handler.allowed), ("blocked", handler.blocked)]
    return ["\(name): \(problem ?? claims)"]
      + choices.filter { !$0.1.isEmpty }.map { what, claims in
        "  \(what) for \(claims == ["*"] ? "everything" : claims.joined(separator: " "))"
      }
  }

  /// Prints problems, and returns the exit code.
  private static func report(_ problems: [HandlerDescription], _ console: Console) throws(Failure) -> Int32 {
    try console.answer(
      problems, problems.map { "\($0.place): \($0.problem ?? "")" },
      verdicts: problems.map { ($0.place, .red) })
    return problems.isEmpty ? 0 : 1
  }
}

extension HandlerDescription {
  init(_ problem: HandlerProblem) {
    self.init(
      id: problem.desktopID ?? "", path: problem.file, problem: problem.message, line: problem.line,
      column: problem.column)
  }
}

/// `handlers prefer`, `block` and `forget`: the user's choices about a handler.
enum HandlerChoice: Equatable {
  case prefer(handler: String, claim: String)
  case block(handler: String, claim: String?)
  case forget(handler: String?, claim: String?)

  /// Nil for another command. The arguments are those of the form, so a handler is nil only with `--domain` or `--all`.
  init?(_ arguments: Arguments) {
    let (handler, claim) = (arguments.words.dropFirst().first, arguments.words.dropFirst(2).first)
    switch (arguments.words.first, handler, claim) {
    case ("prefer", let handler?, let claim?): self = .prefer(handler: handler, claim: claim)
    case ("block", let handler?, let claim): self = .block(handler: handler, claim: claim)
    case ("forget", let handler, let claim):
      self = .forget(handler: handler, claim: claim ?? arguments.options["domain"])
    default: return nil
    }
  }

  /// As typed; nil for all.
  private var handler: String? {
    switch self {
    case .prefer(let handler, _): handler
    case .block(let handler, _): handler
    case .forget(let handler, _): handler
    }
  }

  func make(with agent: AgentClient, console: Console) async throws(Failure) -> Int32 {
    let apps = await KnownApps.of(agent)
    let id = try handler.map { typed throws(Failure) in try apps.id(of: typed) } ?? ""
    let report = try await Failure.asking(.agent) { () async throws(BusError) -> JSON in
      switch self {
      case .prefer(let handler, let claim):
        try await agent.prefer(id, for: claim)
        return ["action": "prefer", "handler": handler, "domain": claim]
      case .block(let handler, let claim):
        try await agent.block(id, for: claim)
        return ["action": "block", "handler": handler, "domain": claim]
      case .forget(let handler, let claim):
        try await agent.forget(id, for: claim)
        return ["action": "forget", "handler": handler, "domain": claim]
      }
    }
    try console.answer(report, [confirmation(handler == nil ? "all apps" : apps.text(id))])
    return 0
  }

  func confirmation(_ app: String) -> String {
    switch self {
    case .prefer(_, let claim): "\(app): preferred and allowed for \(claim)"
    case .block(_, let claim): "\(app): blocked for \(claim ?? "everything")"
    case .forget(_, let claim): "\(app): choices forgotten for \(claim ?? "everything")"
    }
  }
}
