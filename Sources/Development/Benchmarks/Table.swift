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
