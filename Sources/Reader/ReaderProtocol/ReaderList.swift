import Names

/// A message of a process that lists readers. Each replaces the one before it.
package enum ReaderList: Sendable, Hashable {
  /// The devices that libnfc finds, as connection strings, in libnfc's order.
  case devices([String])
  /// pcscd's readers, in its order.
  case readers([PCSCReader])
  /// pcscd gives no list at present, for this reason.
  case problem(PCSCProblem)

  /// The most devices or readers in a list.
  package static var most: Int { Names.PCSC.mostReaders }

  private enum Kind: UInt8 { case devices = 1, readers, problem }

  /// A list is cut to the first `most`.
  package var frame: [UInt8] {
    var writer: FrameWriter
    switch self {
    case .devices(let devices):
      writer = FrameWriter(kind: Kind.devices.rawValue)
      writer.write(UInt16(min(devices.count, Self.most)))
      for device in devices.prefix(Self.most) { writer.write(text: device, ReaderLimits.text) }
    case .readers(let readers):
      writer = FrameWriter(kind: Kind.readers.rawValue)
      writer.write(UInt16(min(readers.count, Self.most)))
      for reader in readers.prefix(Self.most) {
        writer.write(text: reader.name, ReaderLimits.text)
        writer.write(reader.identity.map { [$0.vendor, $0.product] } ?? [])
        writer.write(reader.place.map { [UInt16(clamping: $0.bus), UInt16(clamping: $0.number)] } ?? [])
      }
    case .problem(let problem):
      writer = FrameWriter(kind: Kind.problem.rawValue)
      writer.write(text: problem.kind.rawValue, ReaderLimits.text)
      writer.write(text: problem.text, ReaderLimits.text)
    }
    return writer.frame
  }

  /// Without the frame's length. Fails if it is not a list of this version.
  ///
  /// Drivers and devices give the names, so one odd reader must not hide the others. A reader that comes twice, or
  /// whose name cannot be printed, is left out.
  package init(payload: ArraySlice<UInt8>) throws(ReaderLinkError) {
    var reader = try FrameReader(payload)
    switch Kind(rawValue: reader.kind) {
    case .devices:
      var devices: [String] = []
      for _ in 0..<(try reader.count(Self.most, "devices")) { devices.append(try reader.text(ReaderLimits.text)) }
      self = .devices(devices)
    case .readers:
      var readers: [PCSCReader] = []
      for _ in 0..<(try reader.count(Self.most, "readers")) {
        let name = try reader.text(ReaderLimits.text)
        let identity = try reader.pair().map { PCSCReader.Identity(vendor: $0, product: $1) }
        let place = try reader.pair().map { PCSCReader.Place(bus: Int($0), number: Int($1)) }
        guard Names.PCSC.isReaderName(name), !readers.contains(where: { $0.name == name }) else { continue }
        readers.append(PCSCReader(name: name, identity: identity, place: place))
      }
      self = .readers(readers)
    case .problem:
      guard let kind = PCSCProblem.Kind(rawValue: try reader.text(ReaderLimits.text)) else {
        throw ReaderLinkError("an unknown problem")
      }
      let text = try reader.text(ReaderLimits.text)
      self = .problem(PCSCProblem(kind, Names.PCSC.isPrintable(text) ? text : ""))
    case nil: throw ReaderLinkError("a list of the unknown kind \(reader.kind)")
    }
    try reader.end()
  }
}

extension FrameWriter {
  /// Two numbers, or none.
  fileprivate mutating func write(_ pair: [UInt16]) {
    write(!pair.isEmpty)
    for number in pair { write(number) }
  }
}

extension FrameReader {
  fileprivate mutating func pair() throws(ReaderLinkError) -> (UInt16, UInt16)? {
    guard try boolean() else { return nil }
    let first = try integer(UInt16.self)
    return (first, try integer(UInt16.self))
  }
}

/// A reader in pcscd's list. A device with several slots is several readers.
package struct PCSCReader: Sendable, Hashable {
  /// The USB device, if the driver tells.
  package struct Identity: Sendable, Hashable {
    /// `idVendor` of the device descriptor (USB 2.0, 9.6.1).
    package let vendor: UInt16
    /// `idProduct` of the device descriptor.
    package let product: UInt16

    package init(vendor: UInt16, product: UInt16) {
      self.vendor = vendor
      self.product = product
    }
  }

  /// The USB bus, and the device's number on it, if the driver tells.
  package struct Place: Sendable, Hashable {
    package let bus: Int
    package let number: Int

    package init(bus: Int, number: Int) {
      self.bus = bus
      self.number = number
    }
  }

  /// pcscd's name (`Names.PCSC.isReaderName`).
  package let name: String
  /// Nil if unknown.
  package let identity: Identity?
  /// Nil if unknown.
  package let place: Place?

  package init(name: String, identity: Identity? = nil, place: Place? = nil) {
    self.name = name
    self.identity = identity
    self.place = place
  }
}

/// Why pcscd gives no list of its readers.
package struct PCSCProblem: Sendable, Hashable {
  /// The raw value is its word in the log.
  package enum Kind: String, Sendable {
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

  package let kind: Kind
  /// For a person; may be empty.
  package let text: String

  package init(_ kind: Kind, _ text: String = "") {
    self.kind = kind
    self.text = text
  }
}
