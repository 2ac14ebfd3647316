/// The groups and keys that a file may have.
package struct KeyFileSchema: Sendable, Hashable {
  /// The keys of each group.
  package let keys: [String: [String]]

  /// Allows these keys in each group.
  package init(_ keys: [String: [String]]) {
    self.keys = keys
  }

  /// Rejects the first group or key of `file` that is not in the schema, and suggests the nearest known one.
  package func check(_ file: KeyFile) throws(KeyFileError) {
    for group in file.groups {
      guard let known = keys[group.name] else {
        throw KeyFileError(
          file: file.file, line: group.line, problem: "there is no group [\(group.name)]",
          remedy: suggestion(for: group.name, among: keys.keys.sorted()) { "[\($0)]" })
      }
      try check(group, of: file, as: group.name, known)
    }
  }

  /// Rejects the first key of `group` that the schema does not have for the group `name`. For files with groups that
  /// have names of their own.
  package func check(_ group: KeyFile.Group, of file: KeyFile, as name: String) throws(KeyFileError) {
    try check(group, of: file, as: name, keys[name] ?? [])
  }

  private func check(
    _ group: KeyFile.Group, of file: KeyFile, as name: String, _ known: [String]
  ) throws(KeyFileError) {
    for entry in group.entries where !known.contains(entry.key) {
      throw KeyFileError(
        file: file.file, line: entry.line, problem: "group [\(group.name)] has no key \(entry.key)",
        remedy: remedy(for: entry.key, in: name, known))
    }
  }

  /// A key that exists in another group is more likely misplaced than misspelt.
  private func remedy(for key: String, in group: String, _ known: [String]) -> String {
    if let home = keys.keys.sorted().first(where: { keys[$0]?.contains(key) == true }) {
      return "move it below [\(home)]"
    }
    return suggestion(for: key, among: known.sorted()) { $0 }
  }

  private func suggestion(for name: String, among known: [String], _ shown: (String) -> String) -> String {
    let all = known.map(shown).joined(separator: ", ")
    let nearest = known.map { ($0, editDistance(name.lowercased(), $0.lowercased())) }.min { $0.1 < $1.1 }
    guard let nearest, nearest.1 <= max(2, nearest.0.count / 3) else { return "the known ones are \(all)" }
    return "did you mean \(shown(nearest.0))?"
  }
}

/// How many characters must be inserted, deleted, changed or swapped with their neighbour to turn `a` into `b` (the
/// optimal string alignment distance). For names over 64 characters, longer than any of ours, the result is the length
/// of the longer name.
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
