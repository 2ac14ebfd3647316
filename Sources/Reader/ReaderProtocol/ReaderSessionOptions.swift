package import Names

/// The options of a reader session: which tags its client gets.
package struct ReaderSessionOptions: Sendable, Hashable {
  /// Distinguishes this session from every other one of the daemon. It is never reused.
  package let number: UInt64
  /// The technologies to report, in the order of `TagType`.
  package let technologies: [TagType]
  /// Application identifiers of 5 to 16 bytes. The process selects them on an ISO-DEP card, in this order, until one
  /// answers 90 00 (ISO/IEC 7816-4, 11.2.2). A card without any of them is reported only with `reportsUndeclaredCards`.
  /// If the list is empty, the process selects none and reports every card.
  package let applicationIdentifiers: [[UInt8]]
  /// The systems that FeliCa cards are polled for, without a wildcard (FF as either byte). A card without any of them
  /// is not reported. If the list is empty, every card is reported.
  package let systemCodes: [UInt16]
  /// Whether to report ISO-DEP cards that have none of `applicationIdentifiers`.
  package let reportsUndeclaredCards: Bool

  /// Options with these properties, by default for all technologies. There are at most `ReaderLimits.applications`
  /// applications and `ReaderLimits.systemCodes` systems.
  package init(
    number: UInt64, technologies: [TagType] = TagType.readable, applicationIdentifiers: [[UInt8]] = [],
    systemCodes: [UInt16] = [], reportsUndeclaredCards: Bool = false
  ) {
    self.number = number
    self.technologies = technologies
    self.applicationIdentifiers = applicationIdentifiers
    self.systemCodes = systemCodes
    self.reportsUndeclaredCards = reportsUndeclaredCards
  }

  /// Whether a code names exactly one system (JIS X 6319-4: FF matches any byte).
  package static func isExact(_ code: UInt16) -> Bool { code >> 8 != 0xFF && code & 0xFF != 0xFF }
}

extension FrameWriter {
  mutating func write(_ technologies: [TagType]) {
    write(UInt16(clamping: technologies.count))
    for technology in technologies { write(text: technology.rawValue, ReaderLimits.technology) }
  }

  mutating func write(_ options: ReaderSessionOptions) {
    write(options.number)
    write(options.technologies)
    write(UInt16(clamping: options.applicationIdentifiers.count))
    for identifier in options.applicationIdentifiers { write(bytes: identifier) }
    write(UInt16(clamping: options.systemCodes.count))
    for code in options.systemCodes { write(code) }
    write(options.reportsUndeclaredCards)
  }
}

extension FrameReader {
  mutating func sessionOptions() throws(ReaderLinkError) -> ReaderSessionOptions {
    let number = try integer(UInt64.self)
    let technologies = try technologies()
    var identifiers: [[UInt8]] = []
    for _ in 0..<(try count(ReaderLimits.applications, "application identifiers")) {
      identifiers.append(try bytes(ReaderLimits.applicationIdentifier, "an application identifier"))
    }
    var codes: [UInt16] = []
    for _ in 0..<(try count(ReaderLimits.systemCodes, "system codes")) {
      let code = try integer(UInt16.self)
      guard ReaderSessionOptions.isExact(code) else { throw ReaderLinkError("a system code with a wildcard") }
      codes.append(code)
    }
    return ReaderSessionOptions(
      number: number, technologies: technologies, applicationIdentifiers: identifiers, systemCodes: codes,
      reportsUndeclaredCards: try boolean())
  }

  mutating func technologies() throws(ReaderLinkError) -> [TagType] {
    var technologies: [TagType] = []
    for _ in 0..<(try count(TagType.allCases.count, "technologies")) { technologies.append(try technology()) }
    return technologies
  }

  mutating func count(_ most: Int, _ what: String) throws(ReaderLinkError) -> Int {
    let count = Int(try integer(UInt16.self))
    guard count <= most else { throw ReaderLinkError("\(count) \(what)") }
    return count
  }
}
