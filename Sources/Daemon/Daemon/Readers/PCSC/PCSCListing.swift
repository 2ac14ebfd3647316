import Names
import ReaderProtocol

/// Parses the output of `tagroute-reader-pcsc --watch`, which repeats whatever drivers and devices say. Pure.
///
/// The output is a sequence of blocks. Each replaces the one before it:
///
///     readers 2
///     072f:223b 001:005 ACS ACR1252 Dual Reader [ACR1252 Dual Reader PICC] 00 00
///     - - Virtual PCD 01 00
///     problem refused Access denied.
///
/// A reader's line begins with its vendor and product in hexadecimal digits. Its USB bus and device number follow in
/// decimal digits, then its name. A pair that is unknown is `-`.
struct PCSCListing {
  /// The limit of bytes of a line.
  static let mostBytesOfLine = ReaderLimits.text

  /// The lines of the present list that are still to come; nil outside of a list.
  private var missing: Int?
  private var readers: [PCSCReader] = []

  /// Takes the next line. Returns the list or the problem that ends with it. Fails if the line does not belong there,
  /// with the text that follows "it sent".
  mutating func take(_ line: [UInt8]) throws(ReaderLinkError) -> PCSCWatch.Event? {
    guard let missing else { return try begin(line) }
    if let reader = try Self.reader(line), !readers.contains(where: { $0.name == reader.name }) {
      readers.append(reader)
    }
    self.missing = missing - 1
    return missing == 1 ? end() : nil
  }

  private mutating func begin(_ line: [UInt8]) throws(ReaderLinkError) -> PCSCWatch.Event? {
    let words = line.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
    switch Self.text(words[0]) {
    case "readers":
      guard words.count == 2, let count = Self.number(words[1], digits: 1...2, radix: 10, Int.self),
        count <= Names.PCSC.mostReaders
      else { throw ReaderLinkError("a list without a valid number of readers") }
      missing = count
      return count == 0 ? end() : nil
    case "problem":
      guard words.count >= 2, let word = Self.text(words[1]) else { throw ReaderLinkError("a problem without a kind") }
      let text = words.count == 3 ? Self.text(words[2]) ?? "" : ""
      return .problem(PCSCProblem(PCSCProblem.Kind(rawValue: word) ?? .other, text))
    default: throw ReaderLinkError("a line that begins neither a list nor a problem")
    }
  }

  private mutating func end() -> PCSCWatch.Event {
    defer { (missing, readers) = (nil, []) }
    return .readers(readers)
  }

  /// The reader of a line. Nil if its name is not usable: one odd reader must not hide the others.
  private static func reader(_ line: [UInt8]) throws(ReaderLinkError) -> PCSCReader? {
    let words = line.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
    guard words.count == 3 else { throw ReaderLinkError("a reader without a name") }
    let identity = try pair(words[0], digits: 1...4, radix: 16, UInt16.self).map {
      PCSCReader.Identity(vendor: $0.0, product: $0.1)
    }
    let place = try pair(words[1], digits: 1...3, radix: 10, Int.self).map {
      PCSCReader.Place(bus: $0.0, number: $0.1)
    }
    guard let name = text(words[2]), Names.PCSC.isReaderName(name) else { return nil }
    return PCSCReader(name: name, identity: identity, place: place)
  }

  /// Two numbers with a colon between them; nil for `-` and `-:-`.
  private static func pair<Number: FixedWidthInteger>(
    _ word: ArraySlice<UInt8>, digits: ClosedRange<Int>, radix: Int, _: Number.Type
  ) throws(ReaderLinkError) -> (Number, Number)? {
    let parts = word.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
    guard !parts.allSatisfy({ $0.elementsEqual("-".utf8) }) || parts.count > 2 else { return nil }
    guard parts.count == 2, let first = number(parts[0], digits: digits, radix: radix, Number.self),
      let second = number(parts[1], digits: digits, radix: radix, Number.self)
    else { throw ReaderLinkError("a reader with an invalid pair of numbers") }
    return (first, second)
  }

  private static func number<Number: FixedWidthInteger>(
    _ word: ArraySlice<UInt8>, digits: ClosedRange<Int>, radix: Int, _: Number.Type
  ) -> Number? {
    // The initializer would take a sign, too.
    guard digits.contains(word.count), word.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) else { return nil }
    return Number(String(decoding: word, as: UTF8.self), radix: radix)
  }

  /// A text that can be printed and logged; nil if these bytes are none.
  private static func text(_ bytes: ArraySlice<UInt8>) -> String? {
    String(validating: bytes, as: UTF8.self).flatMap { Names.PCSC.isPrintable($0) ? $0 : nil }
  }
}

/// A reader in pcscd's list. A device with several slots is several readers.
package struct PCSCReader: Sendable, Hashable {
  /// The USB device that it is, if its driver tells.
  package struct Identity: Sendable, Hashable {
    /// `idVendor` of the device descriptor (USB 2.0, 9.6.1).
    package let vendor: UInt16
    /// `idProduct` of the device descriptor.
    package let product: UInt16

    /// The device with these numbers.
    package init(vendor: UInt16, product: UInt16) {
      self.vendor = vendor
      self.product = product
    }
  }

  /// Where it is plugged in, if its driver tells.
  package struct Place: Sendable, Hashable {
    /// The number of the USB bus.
    package let bus: Int
    /// The device's number on that bus.
    package let number: Int

    /// The place with these numbers.
    package init(bus: Int, number: Int) {
      self.bus = bus
      self.number = number
    }
  }

  /// The name by which pcscd knows it (`Names.PCSC.isReaderName`).
  package let name: String
  /// Its maker and model; nil if unknown.
  package let identity: Identity?
  /// Its place; nil if unknown.
  package let place: Place?

  package init(name: String, identity: Identity? = nil, place: Place? = nil) {
    self.name = name
    self.identity = identity
    self.place = place
  }
}

/// Why pcscd gives no list of its readers.
package struct PCSCProblem: Sendable, Hashable {
  /// The raw value is the word on the line of `tagroute-reader-pcsc --watch`.
  package enum Kind: String, Sendable, CaseIterable {
    /// pcscd does not run, and does not start either.
    case noService = "no-service"
    /// polkit does not allow the daemon's user to use pcscd.
    case refused
    /// pcscd closes each connection. It ends at once, or polkit does not allow the connection.
    case closed
    /// pcscd and libpcsclite speak different versions of their protocol.
    case otherVersion = "version"
    /// Anything else.
    case other
  }

  /// What kind of problem it is.
  package let kind: Kind
  /// The reason in words, for a person; may be empty.
  package let text: String

  package init(_ kind: Kind, _ text: String = "") {
    self.kind = kind
    self.text = text
  }
}
