/// Values by domain pattern, found in time that depends on the number of labels in a host and on nothing else.
public struct DomainTable<Value: Sendable>: Sendable {
  private var exact: [String: [Value]] = [:]
  private var wildcard: [String: [Value]] = [:]

  /// An empty table.
  public init() {}

  /// The number of patterns.
  public var count: Int { exact.count + wildcard.count }

  /// Adds one value to a pattern.
  public mutating func insert(_ value: Value, for pattern: DomainPattern) {
    if pattern.isWildcard {
      wildcard[pattern.domain, default: []].append(value)
    } else {
      exact[pattern.domain, default: []].append(value)
    }
  }

  /// The values of each pattern that covers `host`, the exact one first, then wildcards from the longest to the shortest.
  ///
  /// - Parameter host: a domain name in IDNA form.
  /// - Returns: at most one element a label of `host`; the first is the one that counts where nothing speaks against it.
  public func matches(for host: String) -> [(pattern: String, values: [Value])] {
    var result: [(pattern: String, values: [Value])] = []
    if let values = exact[host] { result.append((host, values)) }
    var rest = host.utf8[...]
    while let dot = rest.firstIndex(of: UInt8(ascii: ".")) {
      rest = rest[dot...].dropFirst()
      let domain = String(Substring(rest))
      if let values = wildcard[domain] { result.append(("*." + domain, values)) }
    }
    return result
  }
}

extension DomainTable: Equatable where Value: Equatable {}
