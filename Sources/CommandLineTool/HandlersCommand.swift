import Names
import Bus
import EventLoop
import Handlers
import TagrouteClient

extension Command {
  static let handlers = Command(
    name: "handlers", usage: "handlers [--check [FILE] | verify | prefer | block | forget]",
    summary: "the apps that take tags, for which links, and which are preferred",
    details: """
      Prints every app whose desktop entry declares that it takes tags, with the domains and schemes it takes. An entry that
      is wrong is printed with what is wrong with it. Below an app stands what was chosen about it.

        --check                 look at the desktop entries anew and print only what is wrong, as FILE:LINE:COLUMN: what and
                                what to do; also a program or service file that is not there. The exit code is 1 where
                                something is wrong
        --check FILE            look at a desktop entry that is not installed yet, or at a file of path rules; no agent is
                                needed

      handlers verify ID asks each domain that the app claims whether it names the app, in
      https://DOMAIN/.well-known/apple-app-site-association or assetlinks.json. An app that its domain names is trusted with
      the domain's links without a question. Exit code 0: all of them name it; 1: one does not; 75: one did not answer.

        --server ADDRESS:PORT   ask this server in place of every domain, and keep nothing
        --authorities FILE      the certificate authorities, PEM, in place of the system's; keep nothing
        --due                   without ID: ask all domains whose last answer has expired, of apps for which that counts

      The agent keeps what is chosen, by a click or by these. A DOMAIN is a domain, *. and a domain (what is below it), or a
      scheme and a colon, and has to be within what the app claims. Of two choices the one for the more exact DOMAIN counts.

      handlers prefer ID DOMAIN       has this app open such links, without a question
      handlers block ID [DOMAIN]      has it never be offered for them, or for nothing at all
      handlers forget ID [DOMAIN]     takes back what was chosen about it
      handlers forget --domain DOMAIN takes back what was chosen about such links
      handlers forget --all           takes back all
      """,
    flags: ["all", "check", "due"], options: ["authorities", "domain", "server"], words: 0...3
  ) { arguments, console throws(Failure) in
    let choice = try HandlerChoice(arguments)
    let isVerification = arguments.words.first == "verify"
    let checks = arguments.has("check")
    guard
      choice != nil
        || (isVerification
          ? (arguments.words.count == 2) != arguments.has("due") : arguments.words.count <= (checks ? 1 : 0))
    else {
      throw .usage("say tagroute handlers, or tagroute handlers verify, prefer, block or forget")
    }
    guard isVerification || choice != nil || arguments.options.keys.allSatisfy({ ["check", "json"].contains($0) })
    else {
      throw .usage("--authorities, --due and --server belong to tagroute handlers verify, --all and --domain to forget")
    }
    guard !isVerification || !checks else { throw .usage("--check belongs to tagroute handlers alone") }
    if checks, let file = arguments.words.first {
      let problems = HandlerCheck.problems(in: file)
      return try report(
        (problems + [HandlerCheck.missing(for: file)].compactMap(\.self)).map(HandlerReport.init), console)
    }
    let agent = try await Failure.connecting(to: .agent) { () throws(BusError) in
      try await AgentClient.connect(on: EventLoop(label: "tagroute"))
    }
    if let choice { return try await choice.make(with: agent, console: console) }
    if isVerification {
      let verification = try HandlerVerification(agent: agent, arguments, console: console)
      guard let id = arguments.words.dropFirst().first else { return try await verification.refreshDue() }
      return try await verification.verify(id)
    }
    var handlers: [HandlerDescription]
    do throws(BusError) {
      if checks { try await agent.reloadHandlers() }
      handlers = try await agent.handlers()
    } catch {
      throw Failure(error, from: .agent)
    }
    if checks {
      let missing = handlers.filter { $0.problem == nil }.compactMap { HandlerCheck.missing(for: $0.path, id: $0.id) }
      return try report(
        handlers.filter { $0.problem != nil }.map(HandlerReport.init) + missing.map(HandlerReport.init), console)
    }
    let lines = handlers.flatMap(lines)
    try console.answer(
      handlers.map(HandlerReport.init), lines.isEmpty ? ["no app declares that it takes tags"] : lines)
    return 0
  }

  /// What `handlers` says of one to a person.
  private static func lines(_ handler: HandlerDescription) -> [String] {
    let claims = (handler.domains + handler.schemes.map { "\($0):" }).joined(separator: " ")
    let name = handler.name.isEmpty ? handler.id : "\(handler.id) (\(handler.name))"
    let problem = handler.problem.map { "wrong, \(handler.line.map { "line \($0): " } ?? "")\($0)" }
    let choices = [("preferred", handler.preferred), ("allowed", handler.allowed), ("blocked", handler.blocked)]
    return ["\(name): \(problem ?? claims)"]
      + choices.filter { !$0.1.isEmpty }.map { what, claims in
        "  \(what) for \(claims == ["*"] ? "everything" : claims.joined(separator: " "))"
      }
  }

  /// Prints what is wrong.
  ///
  /// - Returns: the exit code.
  private static func report(_ problems: [HandlerReport], _ console: Console) throws(Failure) -> Int32 {
    try console.answer(problems, problems.map { "\($0.place): \($0.problem ?? "")" })
    return problems.isEmpty ? 0 : 1
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
  let origin: String
  let preferred: [String]
  let allowed: [String]
  let blocked: [String]
  @OrNull var problem: String?
  @OrNull var line: UInt32?
  @OrNull var column: UInt32?

  /// `file:line:column`, as compilers print it and editors jump to it.
  var place: String { path + [line, column].compactMap { $0.map { ":\($0)" } }.joined() }

  init(_ problem: HandlerProblem) {
    id = problem.desktopID ?? ""
    name = ""
    path = problem.file
    domains = []
    schemes = []
    trusted = false
    origin = ""
    preferred = []
    allowed = []
    blocked = []
    self.problem = problem.message
    line = problem.line.map(UInt32.init(clamping:))
    column = problem.column.map(UInt32.init(clamping:))
  }

  init(_ handler: HandlerDescription) {
    id = handler.id
    name = handler.name
    path = handler.path
    domains = handler.domains
    schemes = handler.schemes
    trusted = handler.trusted
    origin = handler.origin
    preferred = handler.preferred
    allowed = handler.allowed
    blocked = handler.blocked
    problem = handler.problem
    line = handler.line
    column = handler.column
  }
}
