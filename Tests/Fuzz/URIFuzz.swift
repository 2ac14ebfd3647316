// Modules: Names UniversalLinks
// Libraries: libidn2 libpsl

import UniversalLinks

/// A text is a URI, or is rejected. A URI is ASCII, and prints to text that parses to the same URI. It is displayed in
/// harmless characters only. The displayed host parses to the same host.
@c(LLVMFuzzerTestOneInput)
public func fuzzURI(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let text = String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  check(text)
  check("https://" + text)
  if let pattern = try? DomainPattern(text) { check(pattern) }
  return 0
}

private func check(_ text: String) {
  guard let uri = try? URI(text) else { return }
  let string = uri.string
  require(string.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "a URI is visible ASCII: \(string)")
  require(string.utf8.count <= URI.maximumLength, "a URI is bounded: \(string)")
  require((try? URI(string)) == uri, "a URI is the same when read again: \(string)")
  if let place = Place(uri) {
    require(place.label.utf8.count <= URI.maximumLength, "a label is bounded: \(string)")
    let again = Place(coordinates: "\(place.latitude),\(place.longitude)")
    require(again?.latitude == place.latitude, "coordinates are the same when read again: \(string)")
  }
  guard uri.isWeb else {
    require(uri.linkDomain == nil, "only the web has domains: \(string)")
    return
  }
  require(
    uri.host.map { !$0.text.isEmpty && !$0.text.contains("@") } ?? false, "a web link has a plain host: \(string)")
  for limit in [16, 40, 80] {
    let shown = uri.display(limit: limit)
    require(shown.unicodeScalars.allSatisfy(isHarmless), "what is shown is harmless: \(shown)")
    let owned = uri.linkDomain.flatMap { PublicSuffixList.system.registrableDomain(of: $0) }?.count ?? 253
    require(shown.count <= max(limit, "…".count + owned + ":65535".count), "what is shown is bounded: \(shown)")
  }
  guard let host = uri.host else { return }
  require((try? URI("https://\(host.display)/"))?.host == host, "what is shown is the same host: \(host.display)")
}

private func check(_ pattern: DomainPattern) {
  require((try? DomainPattern(pattern.description)) == pattern, "a pattern is the same when read again: \(pattern)")
  require(pattern.matches(pattern.domain) == !pattern.isWildcard, "a wildcard leaves out its own domain: \(pattern)")
  require(pattern.matches("a." + pattern.domain) == pattern.isWildcard, "a wildcard covers what is below: \(pattern)")
}

/// Whether a character is visible, and neither a control character nor one that changes the direction of writing.
private func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
  if scalar.properties.isDefaultIgnorableCodePoint || scalar.properties.isBidiControl { return false }
  switch scalar.properties.generalCategory {
  case .control, .format, .lineSeparator, .paragraphSeparator, .spaceSeparator, .privateUse, .surrogate, .unassigned:
    return false
  default: return !(0x590...0x8FF).contains(scalar.value)
  }
}

/// Ends the process, which the fuzzer reports as a failure.
private func require(_ condition: Bool, _ what: @autoclosure () -> String) {
  if !condition { fatalError("does not hold: " + what()) }
}
