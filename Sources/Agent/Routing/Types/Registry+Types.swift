package import NDEF

extension Registry {
  /// Nil if no default application may open the message. A caller looks the application up, and adds it to
  /// ``typeDefaults``.
  package static func typeOfDefault(for message: NDEFMessage) -> String? {
    guard case .found(let record) = TypedRecord.search(message), record.type.mayBeFile else { return nil }
    return record.type.description
  }

  /// By the first record with a media type or an external type.
  ///
  /// `reason` says why there is no link.
  func route(withoutLink message: NDEFMessage, _ reason: String, policy: RoutingPolicy, _ steps: Explanation) -> Route {
    var steps = steps
    switch TypedRecord.search(message) {
    case .absent(let androidRecords):
      for number in androidRecords { steps.add("record", "record \(number) names an Android app, and is ignored") }
      return .none(nil, reason, steps)
    case .malformed(let number):
      let finding = "the type of record \(number) is malformed"
      steps.add("record", finding)
      return .none(nil, "\(reason), and \(finding)", steps)
    case .found(let record):
      let count = message.records.count
      steps.add("record", "record \(record.number) of \(count) is the first with a type, \(record.type)")
      var route = route(for: record, in: message, reason, policy: policy, steps)
      route.record = record
      return route
    }
  }

  /// The reason for no application goes to the log, so it does not name the type.
  private func route(
    for record: TypedRecord, in message: NDEFMessage, _ reason: String, policy: RoutingPolicy, _ steps: Explanation
  ) -> Route {
    var steps = steps
    let type = record.type
    let matches = type.claims.compactMap { claim in types[claim].map { (claim: claim, indices: $0) } }
    if matches.isEmpty { steps.add("type", "no handler declares \(type)") }
    for (claim, indices) in matches {
      steps.add("type", "\(claim) is declared by \(list(applications(indices)))")
    }
    let selection = HandlerSelection(
      matches.map { (claim: $0.claim, applications: applications($0.indices)) }, covering: type.claims,
      choices: policy.choices
    ) { _, _ in false }
    if !matches.isEmpty, let first = winner(of: selection, steps: &steps) {
      return Route(
        kind: .record, uri: nil, handler: first.application, candidates: selection.candidates.map(\.application),
        claimants: selection.candidates + steps.losers, claimantsLeftOut: steps.leftOut,
        question: selection.question, alternative: try? typeDefault(of: type).get(),
        trusted: first.trust != .unconfirmed,
        reason: "\(first.application.id) declares \(first.claim)", steps: steps.steps)
    }
    if record.holdsWiFi { return self.route(forWiFi: record, in: message, reason, steps) }
    switch typeDefault(of: type) {
    case .success(let application):
      let finding = "\(application.id) is the default application for \(type)"
      steps.add("default", finding)
      return Route(
        kind: .recordDefault, uri: nil, handler: application, candidates: [application], claimants: steps.losers,
        claimantsLeftOut: steps.leftOut, trusted: true, reason: "no handler takes the type; \(finding)",
        steps: steps.steps)
    case .failure(let obstacle):
      steps.add("default", obstacle.message)
      let export = "tagroute inbox export --record \(record.number) ID FILE saves it"
      return .none(
        nil, "\(reason), no handler takes record \(record.number), and \(obstacle.message); \(export)", steps)
    }
  }

  /// For a record as a file. The failure says why there is none.
  func typeDefault(of type: RecordType) -> Result<Application, RoutingObstacle> {
    guard case .media(let name) = type else {
      return .failure(RoutingObstacle("its type is external, for which there is no default application"))
    }
    guard type.mayBeFile else {
      return .failure(RoutingObstacle("only a handler, or an app that a rule names, gets its type"))
    }
    switch typeDefaults[name] ?? .missing {
    case .application(let application): return .success(application)
    case .missing: return .failure(RoutingObstacle("its type has no default application"))
    case .unusable(let why):
      return .failure(RoutingObstacle("its type has no default application that can be opened: \(why)"))
    }
  }
}

/// The message is a part of a sentence.
struct RoutingObstacle: Error {
  let message: String

  init(_ message: String) { self.message = message }
}
