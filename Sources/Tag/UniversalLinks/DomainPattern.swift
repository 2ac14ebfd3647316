import CPSL

/// The domains that a handler claims: one host, or all hosts below a domain.
///
/// The syntax is that of Apple's associated domains. `example.com` is only that host. `*.example.com` is every host
/// below it at any depth, but not `example.com` itself.
public struct DomainPattern: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The domain without its `*.`, in IDNA form.
  public let domain: String
  /// Whether the pattern covers the hosts below `domain` rather than `domain` itself.
  public let isWildcard: Bool

  /// Reads a pattern.
  ///
  /// A wildcard over a public suffix (`*.com`, `*.co.uk`, `*.github.io`) is refused: it would cover the domains of
  /// strangers.
  ///
  /// - Parameters:
  ///   - text: a domain name, with `*.` in front of it for a wildcard.
  ///   - suffixes: the list of public suffixes.
  /// - Throws: `URIError` with the code `badHost`.
  public init(_ text: String, suffixes: PublicSuffixList = .system) throws(URIError) {
    isWildcard = text.hasPrefix("*.")
    let host = try Host(name: isWildcard ? String(text.dropFirst(2)) : text)
    guard host.kind == .domain else { throw URIError(.badHost, "an address is not a domain") }
    guard !isWildcard || !suffixes.isPublicSuffix(host.text) else {
      throw URIError(
        .badHost, "a wildcard would cover the domains of strangers: everybody can register below \(host.text)")
    }
    domain = host.text
  }

  /// Whether the pattern covers `host`, a domain name in IDNA form.
  public func matches(_ host: String) -> Bool {
    isWildcard ? host.hasSuffix("." + domain) && host.utf8.count > domain.utf8.count + 1 : host == domain
  }

  /// The pattern as it is written in a desktop entry.
  public var description: String { isWildcard ? "*." + domain : domain }

  /// In the order of the text.
  public static func < (a: DomainPattern, b: DomainPattern) -> Bool { a.description < b.description }
}

/// Numbers domain patterns from 0 and needs little memory: a hash table of numbers, and one text with all names.
///
/// A dictionary of strings would need two allocations and a hundred bytes more for each pattern. Its look-up would also
/// create a string for each label of the host.
struct DomainIndex: Sendable {
  private struct Entry: Sendable {
    let start: UInt32
    /// At most 253 (RFC 1035).
    let length: UInt8
    let isWildcard: Bool
  }

  private static let longestName = 253
  private var names: [UInt8] = []
  private var entries: [Entry] = []
  /// The number of an entry plus one; zero if the slot is free. The slot count is a power of two, with at most half in
  /// use.
  private var slots = [UInt32](repeating: 0, count: 16)

  var count: Int { entries.count }

  /// The pattern with a number that `insert` returned.
  func pattern(_ number: Int) -> (domain: String, isWildcard: Bool) {
    let entry = entries[number]
    return (String(decoding: names[Int(entry.start)...].prefix(Int(entry.length)), as: UTF8.self), entry.isWildcard)
  }

  /// The number of a pattern, which may be new; nil if there is no room for its name.
  mutating func insert(_ domain: String, isWildcard: Bool) -> Int? {
    let bytes = Array(domain.utf8)
    if let number = find(bytes[...], isWildcard: isWildcard) { return number }
    guard bytes.count <= Self.longestName, let start = UInt32(exactly: names.count) else { return nil }
    entries.append(Entry(start: start, length: UInt8(bytes.count), isWildcard: isWildcard))
    names += bytes
    if entries.count * 2 > slots.count { grow() } else { place(entries.count - 1, hash(bytes[...], isWildcard)) }
    return entries.count - 1
  }

  /// The number of a pattern; nil if it was not inserted.
  func find(_ domain: ArraySlice<UInt8>, isWildcard: Bool) -> Int? {
    guard domain.count <= Self.longestName else { return nil }
    var slot = hash(domain, isWildcard) & (slots.count - 1)
    while slots[slot] != 0 {
      let number = Int(slots[slot]) - 1
      let entry = entries[number]
      if entry.isWildcard == isWildcard, Int(entry.length) == domain.count,
        holds(domain, at: Int(entry.start))
      {
        return number
      }
      slot = (slot + 1) & (slots.count - 1)
    }
    return nil
  }

  private func holds(_ domain: ArraySlice<UInt8>, at start: Int) -> Bool {
    var position = start
    for byte in domain {
      if names[position] != byte { return false }
      position += 1
    }
    return true
  }

  private mutating func place(_ number: Int, _ hash: Int) {
    var slot = hash & (slots.count - 1)
    while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
    slots[slot] = UInt32(number) + 1
  }

  private mutating func grow() {
    slots = [UInt32](repeating: 0, count: slots.count * 2)
    for (number, entry) in entries.enumerated() {
      place(number, hash(names[Int(entry.start)...].prefix(Int(entry.length)), entry.isWildcard))
    }
  }

  /// `Hasher` has a random seed in each process, so the author of a desktop entry cannot choose names that all collide.
  private func hash(_ domain: ArraySlice<UInt8>, _ isWildcard: Bool) -> Int {
    var hasher = Hasher()
    hasher.combine(isWildcard)
    unsafe domain.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    return hasher.finalize()
  }
}

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

/// The domains under which people register their own: `com`, `co.uk`, `github.io` (publicsuffix.org, read by libpsl).
///
/// Two names directly under a public suffix have different owners. If no rule of the list covers a name, its last label
/// is its public suffix.
@safe public final class PublicSuffixList: Sendable {
  /// The system's list: libpsl's built-in list or the distribution's file, whichever is newer.
  public static let system = unsafe PublicSuffixList(psl_latest(nil))

  /// Owned, and freed in `deinit`. Once the list is loaded libpsl only reads it, so any thread may use it.
  private nonisolated(unsafe) let list: OpaquePointer?

  private init(_ list: OpaquePointer?) { unsafe self.list = list }

  /// Reads a list. Nil if the file does not exist or cannot be read as a list.
  ///
  /// - Parameter path: a file in the list's own format, or one compiled by `psl-make-dafsa`.
  public convenience init?(path: String) {
    guard let list = unsafe psl_load_file(path) else { return nil }
    unsafe self.init(list)
  }

  deinit { unsafe psl_free(list) }

  /// Whether people register their own domains directly under this one.
  ///
  /// - Parameter domain: a domain name in IDNA form.
  /// - Returns: also true if no list is loaded, or if `domain` contains U+0000 and so is no domain name.
  public func isPublicSuffix(_ domain: String) -> Bool {
    guard let list = unsafe list, !domain.utf8.contains(0) else { return true }
    return unsafe psl_is_public_suffix(list, domain) == 1
  }

  /// The public suffix of a domain with one more label, which has one owner: `example.co.uk` for `www.example.co.uk`.
  ///
  /// - Parameter domain: a domain name in IDNA form.
  /// - Returns: nil if the domain is a public suffix itself, or if no list is loaded.
  public func registrableDomain(of domain: String) -> String? {
    guard let list = unsafe list, !domain.utf8.contains(0) else { return nil }
    // libpsl returns a pointer into the text that it gets.
    return unsafe domain.withCString { start in
      unsafe psl_registrable_domain(list, start).map { unsafe String(cString: $0) }
    }
  }
}
