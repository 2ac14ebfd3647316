/// Suggests a known name for a misspelt one, in files and on command lines.
package enum Spelling {
  /// `did you mean NAME?` with the nearest known name; nil if none is near. Upper and lower case count as the same.
  package static func suggestion(
    for name: String, among known: [String], _ shown: (String) -> String = { $0 }
  ) -> String? {
    // Of two names that are equally near, one that only continues the typed name: `of` is `off` rather than `on`.
    let distances = known.map { known in
      (known, editDistance(name.lowercased(), known.lowercased()), known.hasPrefix(name) ? 0 : 1)
    }
    let nearest = distances.min { ($0.1, $0.2) < ($1.1, $1.2) }
    guard let nearest, nearest.1 <= tolerance(nearest.0.count) else { return nil }
    return "did you mean \(shown(nearest.0))?"
  }

  /// Fewer changes in a short name, because any two short names are near.
  private static func tolerance(_ length: Int) -> Int { max(length / 3, min(2, length / 2)) }
}

/// Optimal string alignment distance: the insertions, deletions, changes and swaps of neighbours from `a` to `b`. For
/// names over 64 characters, longer than any of ours, the result is the length of the longer name.
func editDistance(_ a: String, _ b: String) -> Int {
  let a = Array(a), b = Array(b)
  guard a.count <= 64, b.count <= 64 else { return max(a.count, b.count) }
  var rows = [[Int]](repeating: [Int](repeating: 0, count: b.count + 1), count: a.count + 1)
  for i in 0...a.count {
    for j in 0...b.count {
      if i == 0 || j == 0 {
        rows[i][j] = max(i, j)
        continue
      }
      let change = rows[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)
      rows[i][j] = min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, change)
      if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] {
        rows[i][j] = min(rows[i][j], rows[i - 2][j - 2] + 1)
      }
    }
  }
  return rows[a.count][b.count]
}
