/// Networks to connect to (Wi-Fi Simple Configuration 2.0.5; media type `application/vnd.wfa.wsc`).
///
/// The payload is a list of attributes: a type and a length of two bytes each, most significant byte first, and the
/// value. Attributes come in any order. Unknown ones are skipped.
public struct WiFiRecord: Sendable, Hashable {
  /// The media type of such records.
  public static let type = "application/vnd.wfa.wsc"
  /// The most networks in a record.
  public static let mostNetworks = 16

  /// The networks, at least one.
  public var networks: [WiFiNetwork]

  /// Makes a view of networks.
  ///
  /// - Parameter networks: The networks, 1 to ``mostNetworks``.
  public init(_ networks: [WiFiNetwork]) { self.networks = networks }

  /// Reads a record.
  ///
  /// - Parameter record: A record of the media type `application/vnd.wfa.wsc`, in any case.
  /// - Throws: ``NDEFError`` if the record has another type, an attribute ends behind its container or has the wrong
  ///   length, an attribute of a network occurs twice, or there is no network or more than ``mostNetworks``. The offset
  ///   is in the payload.
  public init(_ record: NDEFRecord) throws(NDEFError) {
    guard record.isMedia(Self.type) else {
      throw NDEFError(.wrongType, at: 0, "the record has no Wi-Fi networks")
    }
    networks = []
    var attributes = WiFiAttributes(record.payload[...])
    while let attribute = try attributes.next() {
      guard attribute.type == WiFiAttributes.credential else { continue }
      guard networks.count < Self.mostNetworks else {
        throw NDEFError(.limit, at: attribute.offset, "the record has more networks than are accepted")
      }
      networks.append(try WiFiNetwork(attribute))
    }
    guard !networks.isEmpty else {
      throw NDEFError(.nestedRecord, at: record.payload.count, "the record has no network")
    }
  }

  /// Makes a record from this view.
  ///
  /// - Parameter id: The record's identifier within its message; empty for none.
  /// - Returns: The record.
  /// - Throws: ``NDEFError`` if there is no network or more than ``mostNetworks``, a name does not have 1 to 32 bytes,
  ///   or a network has a ``WiFiNetwork/keyProblem``. The offset is in the payload.
  public func record(id: [UInt8] = []) throws(NDEFError) -> NDEFRecord {
    var payload: [UInt8] = []
    guard (1...Self.mostNetworks).contains(networks.count) else {
      throw NDEFError(.limit, at: 0, "a record has 1 to \(Self.mostNetworks) networks")
    }
    for network in networks {
      guard WiFiAttributes.ssidLength.contains(network.ssid.count) else {
        throw NDEFError(.payload, at: payload.count, "the name of a network has 1 to 32 bytes")
      }
      if let problem = network.keyProblem { throw NDEFError(.payload, at: payload.count, problem) }
      payload += WiFiAttributes.bytes(WiFiAttributes.credential, network.attributes)
    }
    return try .media(Self.type, id: id, payload: payload)
  }
}
