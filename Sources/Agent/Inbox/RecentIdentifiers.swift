struct RecentIdentifiers {
  private let limit: Int
  /// The oldest first.
  private var identifiers: [String] = []

  init(limit: Int) { self.limit = limit }

  /// Remembers one, and forgets the oldest if there are too many.
  mutating func insert(_ identifier: String) {
    guard !contains(identifier) else { return }
    identifiers.append(identifier)
    if identifiers.count > limit { identifiers.removeFirst() }
  }

  func contains(_ identifier: String) -> Bool { identifiers.contains(identifier) }
}
