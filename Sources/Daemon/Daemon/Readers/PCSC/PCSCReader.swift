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

  /// A reader with these properties.
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

  /// A problem with these properties.
  package init(_ kind: Kind, _ text: String = "") {
    self.kind = kind
    self.text = text
  }
}
