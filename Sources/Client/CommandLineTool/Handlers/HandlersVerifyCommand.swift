package import Associations
import Bus
package import EventLoop
import Glibc
import Names
import TagrouteClient

/// `handlers verify`: asks the domains that a handler claims whether they name it.
struct HandlerVerification {
  /// The most domains of a handler that it asks.
  static let maximumDomains = 100
  /// The limit for a run in the background, in seconds. The agent starts the next run after an hour.
  private static let longestRun: UInt32 = 3000

  let agent: AgentClient
  let console: Console
  private let refresh: AssociationRefresh
  private let isTrial: Bool

  /// A test server or authorities make it a trial, which keeps no answer. Fails if there is no place for the answers.
  init(agent: AgentClient, _ options: AssociationFetcher.Options, console: Console) throws(Failure) {
    self.agent = agent
    self.console = console
    isTrial = options.server != nil || options.authorities != nil
    let store = isTrial ? nil : AssociationStore(environment: ProcessEnvironment.current)
    guard isTrial || store != nil else {
      throw Failure(
        message: "cannot store the answers of domains: neither XDG_STATE_HOME nor HOME is an absolute path",
        exitCode: Names.ExitCode.configuration)
    }
    refresh = AssociationRefresh(fetcher: AssociationFetcher(options: options), store: store, now: Self.now)
  }

  /// Asks the domains of one handler, and prints their answers. Returns 0 if all of them name it, 1 if one does not,
  /// and 75 if one did not answer.
  func verify(_ id: String) async throws(Failure) -> Int32 {
    let handlers = try await handlers()
    let id = try KnownApps(handlers).id(of: id)
    // An entry with both valid and invalid parts is listed twice.
    let known = handlers.filter { $0.id == id }
    guard let handler = known.first(where: { $0.problem == nil }) ?? known.first else {
      throw Failure(
        message: "\(AppID.text(id)): no such handler; tagroute handlers lists them", exitCode: Names.ExitCode.failure)
    }
    if let problem = handler.problem {
      throw Failure(
        message: "\(AppID.text(id)) has an error and is not used: \(problem)", exitCode: Names.ExitCode.failure)
    }
    let domains = Self.domains(of: [handler])
    guard !domains.isEmpty else {
      throw Failure(message: "\(AppID.text(id)) claims no domain", exitCode: Names.ExitCode.failure)
    }
    guard domains.count <= Self.maximumDomains else {
      throw Failure(
        message: "\(AppID.text(id)) claims \(domains.count) domains; at most \(Self.maximumDomains) can be asked",
        exitCode: Names.ExitCode.failure)
    }
    let findings = await refresh.ask(domains)
    try await tellAgent(findings)
    let reports = findings.map { DomainReport($0, of: handler, now: Self.now()) }
    try console.answer(
      ["handler": id, "kept": !isTrial, "domains": reports] as JSON, reports.flatMap(\.lines))
    if reports.contains(where: { $0.state == .notNamed }) { return Names.ExitCode.failure }
    return reports.contains { $0.state == .failed } ? Names.ExitCode.tryAgain : 0
  }

  /// Asks the domains with an expired answer. The agent runs this in the background.
  ///
  /// Only for handlers from a store. Answers have no effect on other handlers, and a request reveals to the domain that
  /// the handler is installed.
  func refreshDue() async throws(Failure) -> Int32 {
    // SIGALRM ends the process. Earlier answers are kept, and the agent asks again in an hour.
    alarm(Self.longestRun)
    let handlers = try await handlers()
    let store = AssociationStore(environment: ProcessEnvironment.current)
    // If an entry has an error, its domains are unknown. Keep all answers until it is fixed.
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
    try await Failure.asking(.agent) { () throws(BusError) in try await agent.handlers() }
  }

  /// Makes the agent read the new answers. A trial has none.
  private func tellAgent(_ findings: [[AssociationRefresh.Finding]]) async throws(Failure) {
    if let problem = findings.joined().compactMap(\.problem).first {
      throw Failure(message: "cannot store the answers of domains: \(problem)", exitCode: Names.ExitCode.failure)
    }
    guard !isTrial, !findings.joined().isEmpty else { return }
    try await Failure.asking(.agent) { () throws(BusError) in try await agent.reloadHandlers() }
  }

  /// The documents of a wildcard are at the parent domain, as with Apple and Android.
  private static func domains(of handlers: [HandlerDescription]) -> [String] {
    var seen: Set<String> = []
    return handlers.flatMap(\.domains).map { $0.hasPrefix("*.") ? String($0.dropFirst(2)) : $0 }
      .filter { seen.insert($0).inserted }
  }

  private static func now() -> Int64 { Int64(time(nil)) }
}

extension AssociationFetcher.Options {
  init(_ arguments: Arguments) throws(Failure) {
    self.init()
    server = arguments.options["server"]
    // An address that the user names may be private.
    allowsPrivateAddresses = server != nil
    authorities = arguments.options["authorities"]
    guard let server else { return }
    let parts = server.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count > 1, let port = parts.last.flatMap({ UInt16($0) }), port > 0, parts.first != "" else {
      throw .usage("--server takes an address and a port, such as 127.0.0.1:8443, not \(server)")
    }
  }
}

/// A domain's answer about a handler; scripts depend on its keys.
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
    /// The kind and the message of a failure; empty for other states.
    let code: String
    let reason: String
  }

  let domain: String
  let state: State
  /// Whether the handler is trusted for this domain, by this answer or by an earlier one.
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
    // Without a current apple-app-site-association, its path rules are unknown. assetlinks.json alone is not enough
    // then.
    let hasRules = findings.contains { $0.document == .appSiteAssociation && $0.record.current(at: now) != nil }
    let counting = findings.filter { hasRules || $0.document == .appSiteAssociation }
    // The user's programs can give their entries any id.
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

  /// The answer of the domain and of each document, for a person.
  var lines: [String] {
    let verdict =
      switch state {
      case .verified: "verified"
      case .notNamed: "not named"
      case .failed: earlierAnswerCounts ? "failed; an earlier answer is still valid" : "failed"
      }
    return ["\(domain): \(verdict)"]
      + documents.map { document in
        let finding =
          switch document.state {
          case .named: "names it"
          case .notNamed: "does not name it"
          case .absent: "not found"
          case .failed: document.reason
          }
        return "  \(document.document): \(finding)"
      }
  }
}

/// Updates the records of domains.
package struct AssociationRefresh: Sendable {
  /// The result of asking a domain for a document.
  package struct Finding: Sendable, Hashable {
    package let domain: String
    package let document: AssociationDocument
    /// The answer, or why there is none.
    package let outcome: FetchOutcome
    /// The record after the request.
    package let record: AssociationRecord
    /// Why the record could not be stored; nil if it was stored, or if there is no store.
    package let problem: SystemError?
  }

  /// How many domains are asked at a time. A handler may claim hundreds, and no request is urgent.
  static let maximumAtOnce = 4

  private let fetcher: AssociationFetcher
  private let store: AssociationStore?
  private let now: @Sendable () -> Int64

  /// Without a store, no record is stored. `now` is the time, in seconds since 1970.
  package init(fetcher: AssociationFetcher, store: AssociationStore?, now: @escaping @Sendable () -> Int64) {
    self.fetcher = fetcher
    self.store = store
    self.now = now
  }

  /// Asks domains in IDNA form for both documents, or with `onlyDue` only for those that are due.
  ///
  /// Returns the findings for each domain, in the order of `domains`. The findings for a domain are in the order of
  /// `AssociationDocument.allCases`.
  package func ask(_ domains: [String], onlyDue: Bool = false) async -> [[Finding]] {
    await withTaskGroup(of: (Int, [Finding]).self) { group in
      var findings = [[Finding]](repeating: [], count: domains.count)
      var rest = domains.indices[...]
      func begin() {
        guard let index = rest.popFirst() else { return }
        group.addTask { (index, await ask(domains[index], onlyDue: onlyDue)) }
      }
      for _ in 0..<Self.maximumAtOnce { begin() }
      while let (index, found) = await group.next() {
        findings[index] = found
        begin()
      }
      return findings
    }
  }

  private func ask(_ domain: String, onlyDue: Bool) async -> [Finding] {
    var findings: [Finding] = []
    for document in AssociationDocument.allCases {
      var record = await store?.record(of: document, at: domain) ?? AssociationRecord()
      if onlyDue && !record.isDue(at: now()) { continue }
      let outcome = await fetcher.fetch(document, of: domain)
      record.take(outcome, at: now())
      let problem = await keep(record, of: document, at: domain)
      findings.append(
        Finding(domain: domain, document: document, outcome: outcome, record: record, problem: problem))
    }
    return findings
  }

  private func keep(
    _ record: AssociationRecord, of document: AssociationDocument, at domain: String
  ) async -> SystemError? {
    do throws(SystemError) {
      try await store?.keep(record, of: document, at: domain)
      return nil
    } catch {
      return error
    }
  }
}
