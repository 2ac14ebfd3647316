// Modules: Names UniversalLinks
// Libraries: libidn2 libpsl

import Names

@testable import UniversalLinks

/// The input is an association file and, after a NUL, the part of a link that follows the host. The parser accepts the
/// file, or rejects it at a position within the file. A JSON value that is printed and parsed again stays the same. The
/// number of matching steps is bounded by the patterns' cost times the link's length.
@c(LLVMFuzzerTestOneInput)
public func fuzzAssociation(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let parts = UnsafeBufferPointer(start: start, count: count).split(
    separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
  let file = parts.first.map(Array.init) ?? []
  checkJSON(file)
  checkAssetLinks(file)
  let association: AppSiteAssociation
  do {
    association = try AppSiteAssociation(json: file)
  } catch {
    check(error, in: file)
    return 0
  }
  for remark in association.remarks { check(remark, in: file) }
  let rest = parts.count > 1 ? String(decoding: parts[1], as: UTF8.self) : "/"
  guard let uri = try? URI("https://example.com" + rest) else { return 0 }
  let cost = association.details.flatMap(\.rules).reduce(0) { $0 + $1.cost }
  require(cost <= AppSiteAssociation.maximumCost, "the patterns of a file are bounded")
  var matching = LinkMatching(uri, maximumSteps: .max)
  let verdict = matching.verdict(of: association) { _ in true }
  let ids = association.details.reduce(0) { $0 + 1 + $1.appIDs.count }
  let most = 8 * (cost + 8) * (uri.string.utf8.count + 8) + ids
  require(matching.steps <= most, "\(matching.steps) steps for \(cost) and \(uri)")
  var hurried = LinkMatching(uri, maximumSteps: matching.steps / 8)
  let early = hurried.verdict(of: association) { _ in true }
  require(early == verdict || early == .undecided, "with fewer steps there is the same answer or none")
  check(verdict, on: uri, association)
  return 0
}

/// The other kind of file that a domain may have.
private func checkAssetLinks(_ file: [UInt8]) {
  do {
    let links = try AssetLinks(json: file)
    require(links.desktopIDs.allSatisfy(links.names), "a statement names what it names")
  } catch {
    check(error, in: file)
  }
}

private func checkJSON(_ bytes: [UInt8]) {
  let value: JSONValue
  do {
    value = try JSONReader.value(of: bytes)
  } catch {
    require((0...bytes.count).contains(error.offset), "an error lies within the file: \(error)")
    return
  }
  let printed = text(of: value)
  let again = (try? JSONReader.value(of: Array(printed.utf8))).map(text)
  require(again == printed, "JSON is the same when read again: \(printed)")
}

private func check(_ error: AssociationError, in file: [UInt8]) {
  require(error.description.utf8.allSatisfy { (0x20...0x7E).contains($0) }, "an error can be printed: \(error)")
  guard let position = error.position else { return }
  let lines = file.split(separator: 0x0A, omittingEmptySubsequences: false)
  require((1...max(lines.count, 1)).contains(position.line), "an error lies within the file: \(error)")
  require(
    (1...(lines.isEmpty ? 1 : lines[position.line - 1].count + 1)).contains(position.column), "and its line: \(error)")
}

/// The first rule that covers a link decides, and it is a rule of the file.
private func check(_ verdict: AppSiteAssociation.Verdict, on uri: URI, _ association: AppSiteAssociation) {
  let rules = association.details.flatMap(\.rules)
  let first = rules.first { rule in
    var steps = MatchingSteps()
    return rule.covers(LinkParts(uri, rule.comparison), steps: &steps)
  }
  switch verdict {
  case .matched(let rule): require(rule == first && !rule.isExclusion, "the first rule lets \(uri) in")
  case .excluded(let rule): require(rule == first && rule.isExclusion, "the first rule keeps \(uri) out")
  // No rule covers a link with dot segments, because a server may read another path in it.
  case .unmatched: require(first == nil || uri.hasDotSegments, "no rule covers \(uri)")
  case .undecided: require(false, "there is no end of steps")
  case .unnamed: require(association.details.isEmpty, "the file names nobody")
  }
}

private func text(of value: JSONValue) -> String {
  switch value.content {
  case .null: "null"
  case .boolean(let value): "\(value)"
  case .number: "0"
  case .text(let text): quoted(text)
  case .list(let elements): "[" + elements.map(text).joined(separator: ",") + "]"
  case .object(let members):
    "{" + members.map { quoted($0.name) + ":" + text(of: $0.value) }.joined(separator: ",") + "}"
  }
}

private func quoted(_ text: String) -> String {
  var result = "\""
  for unit in text.utf16 {
    let hex = String(unit, radix: 16)
    result += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
  }
  return result + "\""
}

/// Ends the process, which the fuzzer reports as a failure.
private func require(_ condition: Bool, _ what: @autoclosure () -> String) {
  if !condition { fatalError("does not hold: " + what()) }
}
