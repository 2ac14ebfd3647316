/// The last few of many identifiers.
struct RecentIdentifiers {
  private let limit: Int
  /// The oldest first.
  private var identifiers: [String] = []

  /// - Parameter limit: how many are remembered.
  init(limit: Int) { self.limit = limit }

  /// Remembers one, and forgets the oldest if there are too many.
  mutating func insert(_ identifier: String) {
    guard !contains(identifier) else { return }
    identifiers.append(identifier)
    if identifiers.count > limit { identifiers.removeFirst() }
  }

  /// Whether it is remembered.
  func contains(_ identifier: String) -> Bool { identifiers.contains(identifier) }
}
