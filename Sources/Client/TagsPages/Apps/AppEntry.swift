import Names
import Notifications
package import TagrouteClient

/// An app that takes tags, with what it opens, why, and what the user has decided. All texts are safe to show.
package struct AppEntry: Sendable, Hashable {
  /// What the user has decided about one claim. The raw values are the positions in the list to choose from.
  package enum Choice: Int, Sendable, Hashable {
    case usual
    case preferred
    case blocked
    /// Given in a notification. It can only be taken back here.
    case allowed
  }

  /// Links or records that the app takes.
  package struct Claim: Sendable, Hashable {
    /// As the agent writes it: a domain, a scheme with a colon, or a type.
    package let id: String
    package let title: String
    /// Why a tag with it opens the app, or does not.
    package let reason: String
    package let choice: Choice
  }

  /// The desktop id.
  package let id: String
  package let title: String
  /// The claims in one line, or the first problem.
  package let summary: String
  package let idText: String
  /// The desktop entry, and who can change it.
  package let source: String
  /// At most ``mostClaims``.
  package let claims: [Claim]
  /// How many more there are.
  package let moreClaims: Int
  /// Whether it is blocked for everything.
  package let isBlocked: Bool
  package let hasChoices: Bool
  /// Mistakes in its files, with file and line.
  package let problems: [String]

  package static let mostClaims = 100

  /// In the order of the apps' names.
  package static func all(_ handlers: [HandlerDescription]) -> [AppEntry] {
    let others = Others(handlers)
    return Dictionary(grouping: handlers, by: \.id).map { AppEntry($0, $1, others) }
      .sorted { ($0.title.lowercased(), $0.id) < ($1.title.lowercased(), $1.id) }
  }

  /// The elements are those with this id: problems, and at most one with valid claims.
  private init(_ id: String, _ elements: [HandlerDescription], _ others: Others) {
    let app = elements.first { $0.problem == nil } ?? HandlerDescription()
    self.id = id
    idText = DisplayText(AppID.text(id)).string
    title = Self.title(id, elements.first { !$0.name.isEmpty }?.name)
    problems = elements.compactMap { element in
      element.problem.map { "\(DisplayText(element.place).string): \(DisplayText($0, limit: 1000).string)" }
    }
    isBlocked = app.blocked.contains("*")
    hasChoices = !app.preferred.isEmpty || !app.allowed.isEmpty || !app.blocked.isEmpty
    source = elements.first.map { "\(DisplayText($0.path).string)\n\(Self.origin($0.origin))" } ?? ""
    let declared = app.domains + app.schemes.map { "\($0):" } + app.mimeTypes + app.externalTypes
    // A choice may be about one host of a claim, or about a claim that the app does not make any more.
    let chosen = Set(app.preferred + app.allowed + app.blocked).subtracting(declared + ["*"]).sorted()
    let all = declared + chosen
    claims = all.prefix(Self.mostClaims).map { claim in
      let choice = Self.choice(claim, of: app)
      return Claim(
        id: claim, title: DisplayText(claim, limit: 260).string, reason: Self.reason(choice, claim, app, others),
        choice: choice)
    }
    moreClaims = all.count - claims.count
    let list = DisplayText(declared.prefix(Self.mostClaims).joined(separator: ", ")).string
    summary =
      isBlocked
      ? translated("Blocked") : !list.isEmpty ? list : problems.first.map { DisplayText($0).string } ?? ""
  }

  /// The name of an app, or its id if it has none.
  package static func title(_ id: String, _ name: String?) -> String {
    let shown = DisplayText(name ?? "", limit: 60)
    return shown.isEmpty ? DisplayText(AppID.text(id), limit: 60).string : shown.string
  }

  private static func choice(_ claim: String, of app: HandlerDescription) -> Choice {
    if app.blocked.contains(claim) { return .blocked }
    if app.preferred.contains(claim) { return .preferred }
    return app.allowed.contains(claim) ? .allowed : .usual
  }

  private static func reason(
    _ choice: Choice, _ claim: String, _ app: HandlerDescription, _ others: Others
  ) -> String {
    if choice == .blocked || app.blocked.contains("*") && choice != .preferred {
      return translated("Never offered, because you have blocked it.")
    }
    if choice == .preferred { return translated("Opened without a question, because you prefer this app.") }
    if let preferred = others.preferred[claim], preferred.id != app.id {
      return translated("You prefer {app} for this.", ["app": preferred.title])
    }
    if let claimants = others.claimants[claim], claimants.count > 1 {
      guard claimants.count == 2, let other = claimants.first(where: { $0.id != app.id }) else {
        return translated("Several apps can open this, so a tag asks which one.")
      }
      return translated("{app} can open this too, so a tag asks which one.", ["app": other.title])
    }
    if choice == .allowed { return translated("You have allowed this app to open it.") }
    if app.trusted { return translated("Needs no permission, because only the administrator can change this app.") }
    guard claim.contains("/") || claim.contains(":") else {
      return translated("A tag asks for your permission first, unless the website names this app.")
    }
    return translated("A tag asks for your permission first.")
  }

  private static func origin(_ origin: String) -> String {
    switch origin {
    // Translators: who has installed an app.
    case "system": translated("Installed by the administrator")
    case "store": translated("Installed from a store")
    case "user": translated("Installed by you")
    default: origin
    }
  }

  /// Who else makes a claim, and whom the user prefers.
  private struct Others {
    var claimants: [String: [(id: String, title: String)]] = [:]
    var preferred: [String: (id: String, title: String)] = [:]

    init(_ handlers: [HandlerDescription]) {
      for handler in handlers where handler.problem == nil && !handler.blocked.contains("*") {
        let app = (id: handler.id, title: AppEntry.title(handler.id, handler.name))
        let claims = handler.domains + handler.schemes.map { "\($0):" } + handler.mimeTypes + handler.externalTypes
        for claim in Set(claims).subtracting(handler.blocked) { claimants[claim, default: []].append(app) }
        for claim in handler.preferred { preferred[claim] = app }
      }
    }
  }
}
