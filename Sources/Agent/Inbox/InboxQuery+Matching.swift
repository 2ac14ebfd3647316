import NDEF

/// Whether a query finds a tap: as a condition of SQL, and for taps that only memory has.
extension InboxQuery {
  var hasAllStates: Bool { states.count == TapState.allCases.count }

  /// Everything but the states and the place in the order. Begins with `AND`, or is empty. The values are the parameters
  /// from `first` on.
  func condition(from first: Int) -> (sql: String, values: [SQLiteValue]) {
    var (sql, values) = ("", [SQLiteValue]())
    func add(_ value: String, _ test: (_ parameter: String) -> String) {
      sql += " AND (\(test("?\(first + values.count)")))"
      values.append(.text(value))
    }
    if let text {
      let isASCII = text.utf8.allSatisfy { $0 < 0x80 }
      add(isASCII ? Self.like(text) : Self.glob(text)) { parameter in
        ["title", "uri", "handler", "rule"]
          .map { isASCII ? "\($0) LIKE \(parameter) ESCAPE '\\'" : "\($0) GLOB \(parameter)" }
          .joined(separator: " OR ")
      }
    }
    for (column, value) in [("handler", handler), ("technology", technology), ("reader", reader)] {
      if let value { add(value) { "\(column) = \($0)" } }
    }
    return (sql, values)
  }

  /// LIKE ignores the case of ASCII letters, and of no others.
  private static func like(_ text: String) -> String {
    "%" + text.map { #"%_\"#.contains($0) ? "\\\($0)" : String($0) }.joined() + "%"
  }

  /// GLOB distinguishes cases, so each letter becomes the set of its cases. It takes several times as long as LIKE.
  private static func glob(_ text: String) -> String {
    let parts = text.unicodeScalars.map { scalar in
      let properties = scalar.properties
      // A set has single characters. Some letters become several: the upper case of ß is SS.
      let cases = Set([String(scalar), properties.lowercaseMapping, properties.uppercaseMapping])
        .filter { $0.unicodeScalars.count == 1 }
      return cases.count > 1 || "*?[".unicodeScalars.contains(scalar) ? "[\(cases.sorted().joined())]" : String(scalar)
    }
    return "*" + parts.joined() + "*"
  }

  func includes(_ tap: Tap) -> Bool {
    let receiver = tap.receiver
    guard states.contains(tap.state), handler == nil || handler == receiver.handler,
      technology == nil || technology == tap.read.technology, reader == nil || reader == tap.read.reader
    else { return false }
    guard let text = text?.lowercased() else { return true }
    return [tap.title, tap.uri, receiver.handler, receiver.rule].contains { $0?.lowercased().contains(text) == true }
  }
}
