/// A table in Markdown.
struct Table {
  private let columns: [String]
  private var rows: [[String]] = []

  init(columns: [String]) { self.columns = columns }

  mutating func add(_ row: [String]) { rows.append(row) }

  /// Brings rows together that agree in the first two columns, in the order of their first appearance.
  mutating func sort() {
    var order: [[String]: Int] = [:]
    for row in rows where order[Array(row.prefix(2))] == nil { order[Array(row.prefix(2))] = order.count }
    let keyed = rows.enumerated().sorted { a, b in
      let (first, second) = (
        order[Array(a.element.prefix(2)), default: 0], order[Array(b.element.prefix(2)), default: 0]
      )
      return (first, a.offset) < (second, b.offset)
    }
    rows = keyed.map(\.element)
  }

  var markdown: String {
    let widths = columns.indices.map { column in
      ([columns] + rows).map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
    }
    func line(_ cells: [String]) -> String {
      let padded = widths.indices.map { index in
        let cell = index < cells.count ? cells[index] : ""
        return cell + String(repeating: " ", count: widths[index] - cell.count)
      }
      return "| " + padded.joined(separator: " | ") + " |"
    }
    let rule = "|" + widths.map { String(repeating: "-", count: $0 + 2) }.joined(separator: "|") + "|"
    return ([line(columns), rule] + rows.map(line)).joined(separator: "\n")
  }
}

/// Many measurements of one duration.
struct Distribution {
  private let sorted: [Duration]

  init(_ durations: [Duration]) { sorted = durations.sorted() }

  /// The smallest measured value that at least `percent` of all values do not exceed (nearest rank).
  func percentile(_ percent: Int) -> Duration {
    guard !sorted.isEmpty else { return .zero }
    let rank = (percent * sorted.count + 99) / 100
    return sorted[min(max(rank, 1), sorted.count) - 1]
  }

  /// One line: the name, and the distribution in milliseconds or microseconds.
  func line(_ name: String, of things: String = "taps", inMicroseconds: Bool = false) -> String {
    let (unit, symbol) = inMicroseconds ? (Duration.microseconds(1), "µs") : (Duration.milliseconds(1), "ms")
    let columns = [("min", 0), ("median", 50), ("90 %", 90), ("99 %", 99), ("worst", 100)].map { title, percent in
      "\(title) \(Self.tenths(percentile(percent) / unit))"
    }
    return "\(name): \(columns.joined(separator: ", ")) \(symbol) (\(sorted.count) \(things))"
  }

  static func milliseconds(_ duration: Duration) -> String { tenths(duration / .milliseconds(1)) }

  /// A number of at least zero with one decimal.
  static func tenths(_ number: Double) -> String {
    let tenths = Int((number * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }
}
