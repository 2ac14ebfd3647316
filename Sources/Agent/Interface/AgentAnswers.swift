import Bus
import Handlers
import Inbox
import Names
import Routing
import UniversalLinks

/// The dictionaries that `org.tagroute.Agent1` answers with.
enum AgentAnswers {
  static func route(_ route: Route, of text: String) -> [String: Value] {
    var answer: [String: Value] = [
      "uri": .string(route.uri?.string ?? text),
      "kind": .string(route.kind.rawValue),
      "candidates": .strings(route.candidates.prefix(mostNamed).map(\.desktopID)),
      "more-candidates": .uint32(UInt32(clamping: route.candidates.count - mostNamed)),
      "trusted": .boolean(route.trusted),
      "question": .string(route.question.rawValue),
      "reason": .string(route.reason),
      "steps": .strings(route.steps.map(\.description)),
    ]
    if let handler = route.handler { answer["handler"] = .string(handler.desktopID) }
    let winners = route.claimants.prefix { $0.wins }
    let named = winners.prefix(mostNamed) + route.claimants[winners.endIndex...]
    answer["claimants"] = .dictionaries(named.map(claimant))
    answer["more-claimants"] = .uint32(
      UInt32(clamping: route.claimants.count - named.count + route.claimantsLeftOut))
    return answer
  }

  /// A handler that is named for ten thousand others would otherwise be an answer of a megabyte.
  private static let mostNamed = 32

  private static func claimant(_ candidate: Candidate) -> [String: Value] {
    var values: [String: Value] = [
      "id": .string(candidate.application.desktopID), "claim": .string(candidate.claim),
      "outcome": .string(candidate.outcome.rawValue), "trust": .string(candidate.trust.rawValue),
      "reason": .string(candidate.sentence),
    ]
    if let rule = candidate.rule { values["rule"] = .string(rule) }
    return values
  }

  static func handlers(
    _ registry: Registry, choices: HandlerChoices, problems: [HandlerProblem]
  ) -> [[String: Value]] {
    let preferred = choices.claimsByPreferredHandler
    let usable = registry.declarations.filter { !$0.usableDomains.isEmpty || !$0.schemes.isEmpty }
    let working = usable.map { declaration in
      let application = declaration.application
      let id = application.desktopID
      return (
        application.desktopID,
        [
          "id": Value.string(application.desktopID),
          "name": .string(application.name),
          "path": .string(application.file),
          "domains": .strings(declaration.usableDomains.map(\.description)),
          "schemes": .strings(declaration.schemes),
          "trusted": .boolean(application.origin == .system),
          "origin": .string(application.origin.rawValue),
          "preferred": .strings(preferred[id] ?? []),
          "allowed": .strings(choices.claims(allowedTo: application)),
          "blocked": .strings(choices.blocked[id]?.sorted() ?? []),
        ]
      )
    }
    let broken = problems.map { problem in
      let id = problem.desktopID ?? String(problem.file.split(separator: "/").last ?? "")
      var values: [String: Value] = [
        "id": .string(id), "name": .string(""), "path": .string(problem.file), "domains": .strings([]),
        "schemes": .strings([]), "trusted": .boolean(false), "problem": .string(problem.message),
      ]
      if let line = problem.line { values["line"] = .uint32(UInt32(clamping: line)) }
      if let column = problem.column { values["column"] = .uint32(UInt32(clamping: column)) }
      return (id, values)
    }
    return (working + broken).sorted { $0.0 < $1.0 }.map(\.1)
  }

  static func tap(_ tap: TapSummary) -> [String: Value] {
    [
      "id": .string(tap.id), "time": .uint64(UInt64(clamping: tap.time.microseconds)), "uri": .string(tap.uri ?? ""),
      "title": .string(tap.title), "state": .string(tap.state.rawValue), "handler": .string(tap.handler ?? ""),
      "sequence": .uint64(UInt64(clamping: tap.sequence)),
    ]
  }

  /// One of a list with messages.
  static func tap(_ listed: ListedTap, reason: String?) -> [String: Value] {
    tap(listed.stored, reason: reason).merging(["sequence": .uint64(UInt64(clamping: listed.sequence))]) { $1 }
  }

  /// - Parameters:
  ///   - stored: the tap.
  ///   - reason: why it goes where it goes, as it was decided before it was shown; nil where that is no longer known.
  /// - Returns: the answer about one tap, with its message.
  static func tap(_ stored: StoredTap, reason: String?) -> [String: Value] {
    let tap = stored.tap
    var values: [String: Value] = [
      "id": .string(tap.id), "time": .uint64(UInt64(clamping: tap.time.microseconds)), "uri": .string(tap.uri ?? ""),
      "title": .string(tap.title), "state": .string(stored.state.rawValue), "handler": .string(tap.handler ?? ""),
      "message": .bytes(tap.message), "state-reason": .string(stored.reason.words),
      "state-reason-code": .string(stored.reason.code.rawValue),
      "state-time": .uint64(UInt64(clamping: stored.changed.microseconds)), "technology": .string(tap.technology),
      "uid": .bytes(tap.uid), "reader": .string(tap.reader),
    ]
    if let reason { values["reason"] = .string(reason) }
    return values
  }

  /// - Throws: `org.tagroute.Error.InvalidArgument`.
  static func limit(_ options: [String: Value]) throws(BusError) -> Int {
    guard let option = options["limit"] else { return 100 }
    guard let number = option.asUInt32, number >= 1 else { throw invalid("limit is no number from 1") }
    return Int(clamping: number)
  }

  /// The beginning of an id, by which taps are looked for; nil where they are not.
  ///
  /// - Throws: `org.tagroute.Error.InvalidArgument`.
  static func idPrefix(_ options: [String: Value]) throws(BusError) -> String? {
    guard let option = options["id-prefix"] else { return nil }
    guard let prefix = option.asString, (1...36).contains(prefix.utf8.count),
      prefix.utf8.allSatisfy({ $0 == UInt8(ascii: "-") || Character(Unicode.Scalar($0)).isHexDigit })
    else { throw invalid("id-prefix is not the beginning of an id: hexadecimal digits and -") }
    if let other = ["state", "before", "before-sequence", "messages"].first(where: { options[$0] != nil }) {
      throw invalid("id-prefix does not go with \(other)")
    }
    // As the daemon writes them.
    return prefix.lowercased()
  }

  /// - Throws: `org.tagroute.Error.InvalidArgument`, which names the option.
  static func query(_ options: [String: Value], limit: Int) throws(BusError) -> InboxQuery {
    var states = Set(TapState.allCases)
    if let option = options["state"] {
      guard let state = option.asString.flatMap(TapState.init) else {
        let names = TapState.allCases.map(\.rawValue).joined(separator: ", ")
        throw invalid("state is none that a tap can have: \(names)")
      }
      states = [state]
    }
    let before = try options["before"].map { value throws(BusError) in
      guard let id = value.asString else { throw invalid("before is no string") }
      return id
    }
    let sequence = try options["before-sequence"].map { value throws(BusError) in
      guard let number = value.asUInt64 else { throw invalid("before-sequence is no number of 64 bits") }
      return Int64(clamping: number)
    }
    return InboxQuery(states: states, limit: limit, before: before, beforeSequence: sequence)
  }

  /// - Throws: `org.tagroute.Error.InvalidArgument`.
  static func wantsMessages(_ options: [String: Value]) throws(BusError) -> Bool {
    guard let option = options["messages"] else { return false }
    guard let flag = option.asBool else { throw invalid("messages is no boolean") }
    return flag
  }

  /// A desktop id, with or without `.desktop`.
  ///
  /// - Throws: `org.tagroute.Error.InvalidArgument` where it is none that can be kept.
  static func desktopID(_ text: String) throws(BusError) -> String {
    let isPlain = text.unicodeScalars.allSatisfy {
      $0.value > 0x20 && $0.value != 0x7F && !"[]/".unicodeScalars.contains($0)
    }
    guard !text.isEmpty, text.utf8.count <= 255, isPlain else { throw invalid("\(text) is no desktop id") }
    return text.hasSuffix(".desktop") ? text : text + ".desktop"
  }

  /// A claim; nil where the text is empty.
  static func claim(_ text: String) throws(BusError) -> String? {
    if text.isEmpty { return nil }
    guard let claim = HandlerChoices.claim(text) else { throw noClaim(text) }
    return claim
  }

  static func noClaim(_ text: String) -> BusError {
    invalid("\(text) is nothing that a handler can claim: name a domain, *. and a domain, or a scheme and a colon")
  }

  static func invalid(_ message: String) -> BusError {
    BusError(name: Names.Errors.invalidArgument, message: message)
  }

  /// Who has a tap; nobody where it was put on the clipboard.
  static func alreadyDelivered(to handler: String?) -> BusError {
    BusError(
      name: Names.Errors.alreadyDelivered,
      message: handler.map { "it was handed to \($0) already" } ?? "it was copied already")
  }

  /// What a caller is told where the inbox refuses.
  static func error(_ error: InboxError) -> BusError {
    let name =
      switch error.code {
      case .unknownTap: Names.Errors.noSuchTap
      case .illegalTransition: Names.Errors.notPossible
      default: Names.Errors.failed
      }
    return BusError(name: name, message: error.message)
  }
}
