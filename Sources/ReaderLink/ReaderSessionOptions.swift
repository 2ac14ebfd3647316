/// What a reader session is begun with: which tags its client is told of.
public struct ReaderSessionOptions: Sendable, Hashable {
  /// Distinguishes this session from every other one of the daemon; never used again.
  public let number: UInt64
  /// The kinds of tags that are reported, as in `Names.technologies`; none stands for all.
  public let technologies: [String]
  /// The applications of ISO-DEP cards that are selected in this order until one answers 90 00 (ISO/IEC 7816-4, 11.2.2), 5 to 16
  /// bytes each. A card that has none of them is not reported. None: no application is selected, and every card is reported.
  public let applicationIdentifiers: [[UInt8]]
  /// The systems that FeliCa cards are polled for, without a wildcard (FF as either byte). A card that has none of them is not
  /// reported. None: every system is.
  public let systemCodes: [UInt16]

  /// - Parameters:
  ///   - number: distinguishes this session from every other one.
  ///   - technologies: the kinds of tags that are reported; none stands for all.
  ///   - applicationIdentifiers: the applications of ISO-DEP cards, at most `ReaderLimits.applications`.
  ///   - systemCodes: the systems of FeliCa cards, at most `ReaderLimits.systemCodes`.
  public init(
    number: UInt64, technologies: [String] = [], applicationIdentifiers: [[UInt8]] = [], systemCodes: [UInt16] = []
  ) {
    self.number = number
    self.technologies = technologies
    self.applicationIdentifiers = applicationIdentifiers
    self.systemCodes = systemCodes
  }

  /// Whether a code names one system and no others (JIS X 6319-4: FF matches any byte).
  ///
  /// - Parameter code: a system code.
  /// - Returns: whether it is free of wildcards.
  public static func isExact(_ code: UInt16) -> Bool { code >> 8 != 0xFF && code & 0xFF != 0xFF }
}

extension FrameWriter {
  mutating func write(_ options: ReaderSessionOptions) {
    write(options.number)
    write(UInt8(clamping: options.technologies.count))
    for name in options.technologies { write(text: name, ReaderLimits.technology) }
    write(UInt8(clamping: options.applicationIdentifiers.count))
    for identifier in options.applicationIdentifiers { write(bytes: identifier) }
    write(UInt8(clamping: options.systemCodes.count))
    for code in options.systemCodes { write(code) }
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
      number: number, technologies: technologies, applicationIdentifiers: identifiers, systemCodes: codes)
  }

  /// A list of names, no more than `ReaderLimits.technologies`.
  mutating func technologies() throws(ReaderLinkError) -> [String] {
    var technologies: [String] = []
    for _ in 0..<(try count(ReaderLimits.technologies, "technologies")) { technologies.append(try technology()) }
    return technologies
  }

  mutating func count(_ most: Int, _ what: String) throws(ReaderLinkError) -> Int {
    let count = Int(try integer(UInt8.self))
    guard count <= most else { throw ReaderLinkError("\(count) \(what)") }
    return count
  }
}
