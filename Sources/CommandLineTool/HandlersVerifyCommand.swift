import AssociationFetch
import Associations
import Bus
import EventLoop
import Glibc
import Names
import TagrouteClient

/// `handlers verify`: which of the domains that a handler claims name it.
struct HandlerVerification {
  /// The most domains of a handler that are asked.
  static let maximumDomains = 100
  /// Of a run in the background, in seconds: the next is not to find it still there.
  private static let longestRun: UInt32 = 3000

  let agent: AgentClient
  let console: Console
  private let refresh: AssociationRefresh
  private let isTrial: Bool

  /// - Parameters:
  ///   - agent: knows the handlers, and is told of new answers.
  ///   - arguments: may name a server and authorities that stand for the real ones; then nothing is kept.
  ///   - console: where the findings go.
  /// - Throws: a failure where answers could not be kept.
  init(agent: AgentClient, _ arguments: Arguments, console: Console) throws(Failure) {
    self.agent = agent
    self.console = console
    isTrial = arguments.has("server") || arguments.has("authorities")
    var options = AssociationFetcher.Options()
    options.server = arguments.options["server"]
    // Whoever names an address means it.
    options.allowsPrivateAddresses = options.server != nil
    options.authorities = arguments.options["authorities"]
    let store = isTrial ? nil : AssociationStore(environment: ProcessEnvironment.current)
    guard isTrial || store != nil else {
      throw Failure(
        message: "cannot keep what domains say: neither XDG_STATE_HOME nor HOME is an absolute path",
        exitCode: Names.ExitCode.configuration)
    }
    refresh = AssociationRefresh(fetcher: AssociationFetcher(options: options), store: store, now: Self.now)
  }

  /// Asks the domains of one handler, and prints what each says.
  ///
  /// - Returns: 0 where all of them name it, 1 where one does not, and 75 where the only obstacle is one that may pass.
  func verify(_ id: String) async throws(Failure) -> Int32 {
    let id = id.hasSuffix(".desktop") ? id : id + ".desktop"
    // One of which only a part is wrong is there twice, once with what is right.
    let known = try await handlers().filter { $0.id == id }
    guard let handler = known.first(where: { $0.problem == nil }) ?? known.first else {
      throw Failure(
        message: "\(id): there is no such handler; tagroute handlers lists them", exitCode: Names.ExitCode.failure)
    }
    if let problem = handler.problem {
      throw Failure(message: "\(id): it is not used: \(problem)", exitCode: Names.ExitCode.failure)
    }
    let domains = Self.domains(of: [handler])
    guard !domains.isEmpty else {
      throw Failure(message: "\(id): it claims no domain", exitCode: Names.ExitCode.failure)
    }
    guard domains.count <= Self.maximumDomains else {
      throw Failure(
        message: "\(id): it claims \(domains.count) domains, and no more than \(Self.maximumDomains) are asked",
        exitCode: Names.ExitCode.failure)
    }
    let findings = await refresh.ask(domains)
    try await tellAgent(findings)
    let reports = findings.map { DomainReport($0, of: handler, now: Self.now()) }
    try console.answer(
      VerificationReport(handler: id, kept: !isTrial, domains: reports), reports.flatMap(\.lines))
    if reports.contains(where: { $0.state == .notNamed }) { return Names.ExitCode.failure }
    return reports.contains { $0.state == .failed } ? Names.ExitCode.tryAgain : 0
  }

  /// Asks the domains whose last answer has expired. What the agent does in the background.
  ///
  /// Only of handlers for which an answer counts: it changes nothing for those that are the system's or the user's own, and a
  /// question tells the domain that they are installed.
  func refreshDue() async throws(Failure) -> Int32 {
    // Ends the process: what came before is kept, and the agent asks again in an hour.
    alarm(Self.longestRun)
    let handlers = try await handlers()
    let store = AssociationStore(environment: ProcessEnvironment.current)
    // An entry that is wrong today may be right tomorrow: what is known of its domains is kept as long as nobody can tell.
    if handlers.allSatisfy({ $0.problem == nil }) { await store?.forget(allBut: Set(Self.domains(of: handlers))) }
    let claimed = Self.domains(of: handlers.filter { $0.problem == nil && $0.origin == "store" })
    let domains = await store?.longestAgoFirst(claimed) ?? claimed
    let findings = await refresh.ask(Array(domains.prefix(Self.maximumDomains * 10)), onlyDue: true)
    try await tellAgent(findings)
    let asked = findings.joined().count
    let failed = findings.joined().count { $0.record.failure != nil }
    try console.answer(
      ["asked": asked, "failed": failed], ["asked for \(asked) documents, \(failed) without an answer"])
    return 0
  }

  private func handlers() async throws(Failure) -> [HandlerDescription] {
    do throws(BusError) {
      return try await agent.handlers()
    } catch {
      throw Failure(error, from: .agent)
    }
  }

  /// The agent reads what was kept; a trial has kept nothing.
  private func tellAgent(_ findings: [[AssociationRefresh.Finding]]) async throws(Failure) {
    if let problem = findings.joined().compactMap(\.problem).first {
      throw Failure(message: "what domains say is not kept: \(problem)", exitCode: Names.ExitCode.failure)
    }
    guard !isTrial, !findings.joined().isEmpty else { return }
    do throws(BusError) {
      try await agent.reloadHandlers()
    } catch {
      throw Failure(error, from: .agent)
    }
  }

  /// A wildcard's documents are at the domain above, as with Apple and Android.
  private static func domains(of handlers: [HandlerDescription]) -> [String] {
    var seen: Set<String> = []
    return handlers.flatMap(\.domains).map { $0.hasPrefix("*.") ? String($0.dropFirst(2)) : $0 }
      .filter { seen.insert($0).inserted }
  }

  private static func now() -> Int64 { Int64(time(nil)) }
}

/// What `handlers verify` prints; its keys are what scripts depend on.
struct VerificationReport: Encodable {
  let handler: String
  /// Whether the answers count from here on.
  let kept: Bool
  let domains: [DomainReport]
}

/// What a domain says of a handler.
struct DomainReport: Encodable {
  enum State: String, Encodable {
    case verified
    case notNamed = "not-named"
    case failed
  }

  struct Document: Encodable {
    enum State: String, Encodable {
      case named
      case notNamed = "not-named"
      case absent
      case failed
    }

    let document: String
    let state: State
    /// What kind of failure it is, and why; empty where it is none.
    let code: String
    let reason: String
  }

  let domain: String
  let state: State
  /// Whether the handler is trusted for this domain, be it by an earlier answer.
  let trusted: Bool
  let documents: [Document]
  private var earlierAnswerCounts: Bool

  private enum CodingKeys: CodingKey { case domain, state, trusted, documents }

  init(_ findings: [AssociationRefresh.Finding], of description: HandlerDescription, now: Int64) {
    let handler = description.id
    domain = findings.first?.domain ?? ""
    let documents = findings.map { finding in
      let failure = finding.record.failure
      let state: Document.State =
        switch finding.outcome {
        case .failed: .failed
        case .absent: .absent
        case .found: finding.record.names(handler, in: finding.document, at: now) ? .named : .notNamed
        }
      return Document(
        document: finding.document.rawValue, state: state, code: failure?.code.rawValue ?? "",
        reason: failure?.message ?? "")
    }
    // Where nobody knows whether there are rules, the document without any does not count.
    let hasRules = findings.contains { $0.document == .appSiteAssociation && $0.record.current(at: now) != nil }
    let counting = findings.filter { hasRules || $0.document == .appSiteAssociation }
    // Anybody can give an entry of the user's own any id.
    let isNamed =
      description.origin == "store" && counting.contains { $0.record.names(handler, in: $0.document, at: now) }
    trusted = isNamed || description.origin == "system"
    earlierAnswerCounts = isNamed
    self.documents = documents
    state =
      counting.contains { finding in
        documents.contains { $0.document == finding.document.rawValue && $0.state == .named }
      }
      ? .verified : documents.contains { $0.state == .failed } ? .failed : .notNamed
  }

  /// For a person: what the domain says, and what each of its documents does.
  var lines: [String] {
    let verdict =
      switch state {
      case .verified: "verified"
      case .notNamed: "not named"
      case .failed: earlierAnswerCounts ? "failed; an earlier answer counts" : "failed"
      }
    return ["\(domain): \(verdict)"]
      + documents.map { document in
        let finding =
          switch document.state {
          case .named: "names it"
          case .notNamed: "does not name it"
          case .absent: "there is none"
          case .failed: document.reason
          }
        return "  \(document.document): \(finding)"
      }
  }
}
