import Rig
import Routing
import Testing

/// Decides each row of the table with the rules as files have them.
@Suite struct DecisionTableTests {
  @Test(arguments: DecisionRow.files) func `each row is decided and explained`(file: String) throws {
    for row in try DecisionRow.load(file) {
      let stage = try DecisionStage(row)
      #expect(stage.problems.count == row.mistakes ?? 0, "\(row): \(stage.problems)")
      let route = stage.route(explaining: true)
      #expect(route.outcome == row.expected, "\(row)")
      #expect(route.steps.contains { $0.finding.contains(row.because) }, "\(row): \(route.steps)")
      expectRules(stage, toExplain: route, row)
      expectReason(of: route, row)
      let silent = stage.route(explaining: false)
      #expect(silent.outcome == row.expected, "\(row), without an explanation")
      #expect(silent.steps.isEmpty && silent.reason == route.reason, "\(row)")
    }
  }

  /// The first steps name each rule that was tried, in its order, with its file and line, and no later rule.
  private func expectRules(_ stage: DecisionStage, toExplain route: Route, _ row: DecisionRow) {
    let places = stage.rules.rules.map(\.place)
    let winner = places.firstIndex { place in route.steps.contains { $0.finding == "\(place) matches" } }
    let tried = winner ?? places.count
    let explained = zip(route.steps, places).prefix(tried).allSatisfy { step, place in
      step.subject == "rule" && step.finding.hasPrefix("\(place) does not match: ")
        && step.finding.hasSuffix("= differs")
    }
    #expect(explained && route.steps.count >= tried, "\(row): \(route.steps)")
    let next = route.steps.dropFirst(tried).first?.finding
    guard let winner else {
      #expect(route.rule == nil, "\(row)")
      if !places.isEmpty { #expect(next == "no rule matches", "\(row)") }
      return
    }
    #expect(next == "\(places[winner]) matches", "\(row)")
    // What was found without the rule is not repeated. Its place is taken by what the rule does.
    #expect(route.steps.count == winner + 2 && route.steps.last?.finding == route.reason, "\(row): \(route.steps)")
    guard let rule = route.rule else {
      #expect(route.kind == .refused, "\(row)")
      return
    }
    #expect(route.kind == .rule && route.trusted && route.question == .nothing, "\(row)")
    #expect(rule.place == places[winner] && route.reason.contains(rule.place), "\(row): \(route.reason)")
    if case .run(let arguments) = rule.action {
      #expect(route.reason.hasSuffix(" runs \(arguments[0])"), "\(row): \(route.reason)")
    }
  }

  /// The reason names the app that was chosen, and neither reason nor steps have the password of a Wi-Fi network.
  private func expectReason(of route: Route, _ row: DecisionRow) {
    #expect(!route.reason.isEmpty && !route.steps.isEmpty, "\(row)")
    if let handler = route.handler { #expect(route.reason.contains(handler.desktopID), "\(row): \(route.reason)") }
    #expect((route.steps.map(\.finding) + [route.reason]).allSatisfy { !$0.contains("visitors") }, "\(row)")
  }

  @Test func `the table has each kind of decision, and no row twice`() throws {
    let names = try #require(fileNames(in: DecisionRow.folder))
    #expect(names.sorted() == DecisionRow.files.map { "\($0).jsonl" })
    let rows = try DecisionRow.files.flatMap { try DecisionRow.load($0) }
    #expect(rows.count >= 200)
    #expect(Set(rows.map(\.question)).count == rows.count)
    let words = Set(rows.compactMap { $0.expected.split(separator: " ").first.map(String.init) })
    #expect(words.isSuperset(of: Route.Kind.allCases.filter { $0 != .rule }.map(\.rawValue)))
    let actions = Set(rows.compactMap { $0.expected.split(separator: " ").dropFirst().first.map(String.init) })
    #expect(actions.isSuperset(of: ["ignore", "open", "run", "show"]))
  }
}
