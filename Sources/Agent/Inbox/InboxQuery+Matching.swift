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
      // LIKE ignores the case of ASCII letters, and of no others.
      let isLike = text.unicodeScalars.allSatisfy { $0.isASCII || Self.cases(of: $0).count == 1 }
      // A link in its normal form is ASCII.
      let columns = isLike ? ["title", "uri", "handler", "rule"] : ["title", "handler", "rule"]
      add(isLike ? Self.like(text) : Self.glob(text)) { parameter in
        columns.map { isLike ? "\($0) LIKE \(parameter) ESCAPE '\\'" : "\($0) GLOB \(parameter)" }
          .joined(separator: " OR ")
      }
    }
    for (column, value) in [("handler", handler), ("technology", technology), ("reader", reader)] {
      if let value { add(value) { "\(column) = \($0)" } }
    }
    return (sql, values)
  }

  private static func like(_ text: String) -> String {
    let special = #"%_\"#.unicodeScalars
    return "%" + text.unicodeScalars.map { special.contains($0) ? "\\\($0)" : String($0) }.joined() + "%"
  }

  /// GLOB distinguishes cases, so each letter becomes the set of its cases. It takes several times as long as LIKE.
  private static func glob(_ text: String) -> String {
    let parts = text.unicodeScalars.map { scalar in
      let cases = cases(of: scalar)
      return cases.count > 1 || "*?[".unicodeScalars.contains(scalar) ? "[\(cases.sorted().joined())]" : String(scalar)
    }
    return "*" + parts.joined() + "*"
  }

  /// Only single characters: the upper case of ß is SS.
  private static func cases(of scalar: Unicode.Scalar) -> Set<String> {
    let properties = scalar.properties
    return Set([String(scalar), properties.lowercaseMapping, properties.uppercaseMapping])
      .filter { $0.unicodeScalars.count == 1 }
  }

  func includes(_ tap: Tap) -> Bool {
    let receiver = tap.receiver
    guard states.contains(tap.state), handler == nil || handler == receiver.handler,
      technology == nil || technology == tap.read.technology, reader == nil || reader == tap.read.reader
    else { return false }
    // Scalars, as SQLite compares them: a character may have combining marks.
    guard let text = text?.lowercased().unicodeScalars else { return true }
    return [tap.title, tap.uri, receiver.handler, receiver.rule].contains {
      $0?.lowercased().unicodeScalars.contains(text) == true
    }
  }
}
