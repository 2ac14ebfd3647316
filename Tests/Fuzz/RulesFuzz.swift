// Modules: Names NDEF UniversalLinks Routing Settings
// Libraries: gio-unix-2.0 libidn2 libpsl
// Sources: Agent/Handlers/Rules/RuleFile.swift Agent/Handlers/Choices/SalvagedKeyFile.swift

import NDEF
import Names
import Routing
import Settings
import UniversalLinks

/// A file of rules is read in a bounded time. A rule has conditions, a name that can be printed and a line of the file.
/// Each mistake has a line of the file, or concerns all of it. A rule that is alone in a file is the same rule. No rule
/// matches a tag without any property.
@c(LLVMFuzzerTestOneInput)
public func fuzzRules(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  let file = RuleFile(bytes, file: "f", origin: .user)
  let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).count
  require(file.problems.count <= RuleFile.maximumProblems, "mistakes are bounded")
  for problem in file.problems {
    require(problem.line.map { (1...lines).contains($0) } ?? true, "a mistake is in the file: \(problem)")
    require(!problem.problem.isEmpty && !problem.remedy.isEmpty, "a mistake has a fix: \(problem)")
  }
  let mistaken = Set(file.problems.compactMap(\.line))
  for rule in file.rules {
    require(!rule.conditions.isEmpty, "a rule has a condition")
    require((1...lines).contains(rule.line) && !mistaken.contains(rule.line), "a rule is where no mistake is")
    require(rule.name.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }, "a name is printable")
    if case .run(let arguments) = rule.action {
      require(!(arguments.first ?? "").isEmpty, "a program has a name")
      require(arguments.allSatisfy { !$0.utf8.contains(0) }, "an argument has no zero")
    }
    for case .uid(let uid) in rule.conditions {
      require(UIDText.lengths.contains(uid.count) && !UIDText.isRandom(uid), "a UID is one that a tag keeps")
      require(UIDText.bytes(UIDText.text(uid)) == uid, "a UID is the same when read again")
    }
  }
  let rules = RuleSet(file.rules)
  require(rules.decision(for: TagRead(), link: nil, explaining: false).rule == nil, "a rule needs a property")
  for link in links {
    let decision = rules.decision(for: TagRead(message: .uri(link.string)), link: link)
    guard let rule = decision.rule else { continue }
    require(
      rules.rules.first { $0 == rule }.map { decision.steps.count <= rules.rules.count && $0 == rule } ?? false,
      "a step for each rule that was tried")
    for case .link(let condition) in rule.conditions { check(condition, link) }
  }
  return 0
}

private let links = [
  "https://menu.example.com/table/7?a=b#c", "https://example.org:8443/", "tel:+15550100", "x-music://album/7",
].compactMap { try? URI($0) }

/// A pattern covers only links of its scheme. Earlier questions do not change the result.
private func check(_ condition: LinkCondition, _ link: URI) {
  var matching = LinkMatching(link)
  let (first, second) = (matching.covers(condition), matching.covers(condition))
  require(first == true && second == true, "a decision is the same again: \(condition.text)")
  require(condition.text.lowercased().hasPrefix(link.scheme + ":"), "a pattern is for one scheme: \(condition.text)")
}

/// Ends the process, which the fuzzer reports as a failure.
private func require(_ condition: Bool, _ what: @autoclosure () -> String) {
  if !condition { fatalError("does not hold: " + what()) }
}
