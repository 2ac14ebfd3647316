/// Values by domain pattern. The time of a look-up depends only on the number of labels in the host.
public struct DomainTable<Value: Sendable>: Sendable {
  /// The values by the text of their pattern.
  private var entries: [String: [Value]] = [:]

  // Specialised for the indices in the registry: generic look-ups take a third longer for the values.

  /// An empty table.
  public init() {}

  /// The number of patterns.
  public var count: Int { entries.count }

  /// Adds one value to a pattern.
  @_specialize(where Value == Int32)
  public mutating func insert(_ value: Value, for pattern: DomainPattern) {
    entries[pattern.description, default: []].append(value)
  }

  /// The values of each pattern that covers `host`: the exact pattern first, then wildcards, the longest first.
  ///
  /// - Parameter host: a domain name in IDNA form.
  /// - Returns: at most one element for each label of `host`. The first decides unless the caller has a reason to skip
  ///   it.
  @_specialize(where Value == Int32)
  public func matches(for host: String) -> [(pattern: String, values: [Value])] {
    var result: [(pattern: String, values: [Value])] = []
    if let values = entries[host] { result.append((host, values)) }
    for dot in host.utf8.indices where host.utf8[dot] == UInt8(ascii: ".") {
      let pattern = "*\(host[dot...])"
      if let values = entries[pattern] { result.append((pattern, values)) }
    }
    return result
  }
}

/// Equal if every pattern has the same values in the same order. The order of the patterns does not matter.
extension DomainTable: Equatable where Value: Equatable {}
