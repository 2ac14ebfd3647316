/// Values by domain pattern. The time of a look-up depends only on the number of labels in the host.
public struct DomainTable<Value: Sendable>: Sendable {
  private struct Claim: Sendable {
    let value: Value
    /// The next claim to the same pattern, or -1.
    var next: Int32
  }

  private var index = DomainIndex()
  private var claims: [Claim] = []
  /// The first and the last claim to each pattern.
  private var ends: [(first: Int32, last: Int32)] = []

  // Specialised for the indices in the registry: generic look-ups take a third longer for the values.

  /// An empty table.
  public init() {}

  /// The number of patterns.
  public var count: Int { index.count }

  /// Adds one value to a pattern. Drops the value if the table already has 4 GiB of names or 2³¹ values.
  @_specialize(where Value == Int32)
  public mutating func insert(_ value: Value, for pattern: DomainPattern) {
    guard let claim = Int32(exactly: claims.count),
      let number = index.insert(pattern.domain, isWildcard: pattern.isWildcard)
    else { return }
    claims.append(Claim(value: value, next: -1))
    if number == ends.count {
      ends.append((claim, claim))
    } else {
      claims[Int(ends[number].last)].next = claim
      ends[number].last = claim
    }
  }

  /// The values of each pattern that covers `host`: the exact pattern first, then wildcards, the longest first.
  ///
  /// - Parameter host: a domain name in IDNA form.
  /// - Returns: at most one element for each label of `host`. The first decides unless the caller has a reason to skip
  ///   it.
  @_specialize(where Value == Int32)
  public func matches(for host: String) -> [(pattern: String, values: [Value])] {
    var result: [(pattern: String, values: [Value])] = []
    let bytes = Array(host.utf8)
    if let number = index.find(bytes[...], isWildcard: false) { result.append((host, values(number))) }
    for (position, byte) in bytes.enumerated() where byte == UInt8(ascii: ".") {
      let domain = bytes[(position + 1)...]
      if let number = index.find(domain, isWildcard: true) {
        result.append(("*." + String(decoding: domain, as: UTF8.self), values(number)))
      }
    }
    return result
  }

  @_specialize(where Value == Int32)
  private func values(_ number: Int) -> [Value] {
    var result: [Value] = []
    var next = ends[number].first
    while next >= 0 {
      let claim = claims[Int(next)]
      result.append(claim.value)
      next = claim.next
    }
    return result
  }
}

/// Equal if every pattern has the same values in the same order. The order of the patterns does not matter.
extension DomainTable: Equatable where Value: Equatable {
  /// Compares pattern by pattern.
  public static func == (a: DomainTable, b: DomainTable) -> Bool {
    guard a.count == b.count, a.claims.count == b.claims.count else { return false }
    return (0..<a.count).allSatisfy { number in
      let (domain, isWildcard) = a.index.pattern(number)
      guard let other = b.index.find(Array(domain.utf8)[...], isWildcard: isWildcard) else { return false }
      return a.values(number) == b.values(other)
    }
  }
}
