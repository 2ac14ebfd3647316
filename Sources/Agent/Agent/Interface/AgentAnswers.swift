import Bus
import Handlers
import Inbox
import NDEF
import Names
import Routing
import Settings
import TagrouteClient
import UniversalLinks

/// The dictionaries that `org.tagroute.Agent1` returns. Their record types are the ones that its clients decode.
enum AgentAnswers {
  static func route(_ route: Route, of text: String) -> [String: Value] {
    let winners = route.claimants.prefix { $0.wins }
    let claimants = winners.prefix(mostNamed) + route.claimants[winners.endIndex...]
    var answer = Resolution()
    answer.uri = route.uri?.string ?? text
    answer.kind = route.kind.rawValue
    answer.handler = route.handler?.desktopID
    answer.candidates = route.candidates.prefix(mostNamed).map(\.desktopID)
    answer.moreCandidates = UInt32(clamping: route.candidates.count - mostNamed)
    answer.claimants = claimants.map(claimant)
    answer.moreClaimants = UInt32(clamping: route.claimants.count - claimants.count + route.claimantsLeftOut)
    answer.trusted = route.trusted
    answer.question = route.question.rawValue
    answer.recordType = route.record?.type.description
    answer.rule = route.rule?.name
    answer.action = route.rule?.action.kind
    answer.asks = route.rule?.asks ?? true
    answer.reason = route.reason
    answer.steps = route.steps.map(\.description)
    return answer.values
  }

  /// Ten thousand handlers may claim a link. Without a limit the reply would be a megabyte.
  private static let mostNamed = 32

  private static func claimant(_ candidate: Candidate) -> ClaimantDescription {
    var claimant = ClaimantDescription()
    claimant.id = candidate.application.desktopID
    claimant.claim = candidate.claim
    claimant.outcome = candidate.outcome.rawValue
    claimant.trust = candidate.trust.rawValue
    claimant.rule = candidate.rule
    claimant.reason = candidate.sentence
    return claimant
  }

  static func handlers(
    _ registry: Registry, choices: HandlerChoices, problems: [HandlerProblem]
  ) -> [[String: Value]] {
    let preferred = choices.claimsByPreferredHandler
    let usable = registry.declarations.filter { !$0.usableDomains.isEmpty || !$0.schemes.isEmpty || !$0.types.isEmpty }
    let working = usable.map { declaration in
      let application = declaration.application
      var handler = HandlerDescription()
      handler.id = application.desktopID
      handler.name = application.name
      handler.path = application.file
      handler.domains = declaration.usableDomains.map(\.description)
      handler.schemes = declaration.schemes
      handler.mimeTypes = declaration.mimeTypes
      handler.externalTypes = declaration.externalTypes
      handler.trusted = application.origin == .system
      handler.origin = application.origin.rawValue
      handler.preferred = preferred[handler.id] ?? []
      handler.allowed = choices.claims(allowedTo: application)
      handler.blocked = choices.blocked[handler.id]?.sorted() ?? []
      return handler
    }
    let broken = problems.map { problem in
      HandlerDescription(
        id: problem.desktopID ?? String(problem.file.split(separator: "/").last ?? ""), path: problem.file,
        problem: problem.message, line: problem.line, column: problem.column)
    }
    return (working + broken).sorted { $0.id < $1.id }.map(\.values)
  }

  static func tap(_ summary: TapSummary) -> [String: Value] {
    var tap = TapDescription()
    tap.id = summary.id
    tap.time = UInt64(clamping: summary.time.microseconds)
    tap.uri = summary.uri ?? ""
    tap.title = summary.title
    tap.state = summary.state.name
    tap.handler = summary.receiver.handler
    tap.rule = summary.receiver.rule
    tap.program = summary.receiver.program
    tap.stateReason = summary.reason.words
    tap.stateReasonCode = summary.reason.code.rawValue
    tap.sequence = UInt64(clamping: summary.sequence)
    return tap.values
  }

  static func tap(_ listed: ListedTap, reason: String?) -> [String: Value] {
    tap(listed.stored, reason: reason, sequence: listed.sequence)
  }

  /// All keys of the tap. The reason is the one decided before the tap was shown; nil if the agent no longer knows it.
  /// The sequence is nil outside a list.
  static func tap(_ stored: Tap, reason: String?, sequence: Int64? = nil) -> [String: Value] {
    var tap = TapDescription()
    tap.id = stored.id
    tap.time = stored.read.time
    tap.uri = stored.uri ?? ""
    tap.title = stored.title
    tap.state = stored.state.name
    tap.handler = stored.receiver.handler
    tap.rule = stored.receiver.rule
    tap.program = stored.receiver.program
    tap.sequence = sequence.map(UInt64.init(clamping:))
    tap.message = stored.read.bytes
    tap.reason = reason
    // A rule may act on a damaged tag, and the inbox then stores no reason.
    let damage = stored.reason == .none && stored.read.message == nil ? TagRead.damage(of: stored.read.bytes) : ""
    let reason = damage.isEmpty ? stored.reason : TapReason(.damaged, detail: damage)
    tap.stateReason = reason.words
    tap.stateReasonCode = reason.code.rawValue
    tap.stateTime = UInt64(clamping: stored.changed.microseconds)
    tap.technology = stored.read.technology
    tap.uid = stored.read.uid
    tap.reader = stored.read.reader
    return tap.values
  }

  static func outgoing(_ counts: OutgoingCounts, isOn: Bool) -> [String: Value] {
    var outgoing = AgentStatus.Outgoing()
    outgoing.on = isOn
    outgoing.waiting = UInt32(clamping: counts.waiting)
    outgoing.dropped = UInt64(clamping: counts.dropped)
    outgoing.oldest = counts.oldest.map { UInt64(clamping: $0.microseconds) }
    return outgoing.values
  }

  /// `names` are those that the file has.
  static func settings(_ texts: [SettingText], inFile names: Set<String>) -> [String: Value] {
    var settings: [String: Value] = [:]
    for text in texts {
      var setting = SettingDescription()
      (setting.value, setting.defaultValue, setting.isSet) = (text.value, text.defaultValue, names.contains(text.name))
      settings[text.name] = .dictionary(setting.values)
    }
    return settings
  }

  static func limit(_ options: [String: Value], default: Int = 100) throws(BusError) -> Int {
    guard let option = options["limit"] else { return `default` }
    guard let number = option.asUInt32, number >= 1 else { throw .invalidArgument("limit is no number from 1") }
    return Int(clamping: number)
  }

  /// Nil if the option is not given.
  static func sequence(_ options: [String: Value], _ name: String) throws(BusError) -> Int64? {
    guard let option = options[name] else { return nil }
    guard let number = option.asUInt64 else { throw .invalidArgument("\(name) is no number of 64 bits") }
    return Int64(clamping: number)
  }

  /// With or without `.desktop`. Throws if the text cannot be stored as a desktop id.
  static func desktopID(_ text: String) throws(BusError) -> String {
    let isPlain = text.unicodeScalars.allSatisfy {
      $0.value > 0x20 && $0.value != 0x7F && !"[]/".unicodeScalars.contains($0)
    }
    guard !text.isEmpty, text.utf8.count <= 255, isPlain else { throw .invalidArgument("\(text) is no desktop id") }
    return AppID.desktopID(text)
  }

  /// Nil if the text is empty.
  static func claim(_ text: String) throws(BusError) -> String? {
    if text.isEmpty { return nil }
    guard let claim = HandlerChoices.claim(text) else { throw noClaim(text) }
    return claim
  }

  static func noClaim(_ text: String) -> BusError {
    .invalidArgument(
      "\(text) is not a claim: name a domain, *. and a domain, a scheme and a colon, "
        + "or a type")
  }

  /// The error for a tap that was opened before. Without a handler and a program, it was copied to the clipboard, or its
  /// network was joined.
  static func alreadyDelivered(to receiver: TapReceiver) -> BusError {
    let program = receiver.program.map { "the rule \(receiver.rule ?? "") has already started \($0)" }
    return BusError(
      name: Names.Errors.alreadyDelivered,
      message: receiver.handler.map { "it was handed to \(AppID.text($0)) already" } ?? program
        ?? "it was copied or joined already")
  }

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

extension BusError {
  static func invalidArgument(_ message: String) -> BusError {
    BusError(name: Names.Errors.invalidArgument, message: message)
  }
}
