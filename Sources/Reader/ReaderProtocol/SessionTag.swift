/// A tag that a reader session found, with the data from its activation.
///
/// Data that a kind of tag does not have are empty or nil.
package struct SessionTag: Sendable, Hashable {
  /// Its placement.
  package let placement: Placement
  /// Answer to request of Type A, two bytes: `00 44` for an Ultralight (ISO/IEC 14443-3, 6.5.2).
  package var atqa: [UInt8]
  /// Select acknowledge of Type A (ISO/IEC 14443-3, 6.5.3).
  package var sak: UInt8?
  /// Historical bytes of the answer to select of an ISO-DEP card of Type A (ISO/IEC 14443-4, 5.2.7).
  package var historicalBytes: [UInt8]
  /// Application data of Type B, four bytes (ISO/IEC 14443-3, 7.9.3).
  package var applicationData: [UInt8]
  /// Protocol info of Type B, three or four bytes (ISO/IEC 14443-3, 7.9.4).
  package var protocolInfo: [UInt8]
  /// Manufacture ID of FeliCa, eight bytes (JIS X 6319-4).
  package var idm: [UInt8]
  /// Manufacture parameters of FeliCa, eight bytes.
  package var pmm: [UInt8]
  /// The system of a FeliCa card that answered the poll.
  package var systemCode: UInt16?
  /// The index, from 0, of the application identifier that is selected, in the options that the session began with.
  package var initialApplication: Int?

  /// A tag with these data.
  package init(
    placement: Placement, atqa: [UInt8] = [], sak: UInt8? = nil, historicalBytes: [UInt8] = [],
    applicationData: [UInt8] = [], protocolInfo: [UInt8] = [], idm: [UInt8] = [], pmm: [UInt8] = [],
    systemCode: UInt16? = nil, initialApplication: Int? = nil
  ) {
    self.placement = placement
    self.atqa = atqa
    self.sak = sak
    self.historicalBytes = historicalBytes
    self.applicationData = applicationData
    self.protocolInfo = protocolInfo
    self.idm = idm
    self.pmm = pmm
    self.systemCode = systemCode
    self.initialApplication = initialApplication
  }

  /// The same tag with another placement.
  package func at(_ placement: Placement) -> SessionTag {
    SessionTag(
      placement: placement, atqa: atqa, sak: sak, historicalBytes: historicalBytes, applicationData: applicationData,
      protocolInfo: protocolInfo, idm: idm, pmm: pmm, systemCode: systemCode, initialApplication: initialApplication)
  }
}

extension FrameWriter {
  mutating func write(_ tag: SessionTag) {
    write(tag.placement)
    for bytes in [tag.atqa, tag.sak.map { [$0] } ?? [], tag.historicalBytes] { write(bytes: bytes) }
    for bytes in [tag.applicationData, tag.protocolInfo, tag.idm, tag.pmm] { write(bytes: bytes) }
    write(tag.systemCode != nil)
    write(tag.systemCode ?? 0)
    write(Int16(clamping: tag.initialApplication ?? -1))
  }
}

extension FrameReader {
  mutating func sessionTag() throws(ReaderLinkError) -> SessionTag {
    var tag = SessionTag(placement: try placement())
    tag.atqa = try bytesOrNone(2...2, "an answer to request")
    tag.sak = try bytesOrNone(1...1, "a select acknowledge").first
    tag.historicalBytes = try bytes(0...ReaderLimits.historicalBytes, "historical bytes")
    tag.applicationData = try bytesOrNone(4...4, "application data")
    tag.protocolInfo = try bytesOrNone(3...4, "protocol info")
    tag.idm = try bytesOrNone(8...8, "an IDm")
    tag.pmm = try bytesOrNone(8...8, "a PMm")
    let hasSystemCode = try boolean()
    let code = try integer(UInt16.self)
    tag.systemCode = hasSystemCode ? code : nil
    let index = Int(try integer(Int16.self))
    guard (-1..<ReaderLimits.applications).contains(index) else {
      throw ReaderLinkError("an application of the number \(index)")
    }
    tag.initialApplication = index < 0 ? nil : index
    return tag
  }

  private mutating func bytesOrNone(_ allowed: ClosedRange<Int>, _ what: String) throws(ReaderLinkError) -> [UInt8] {
    let bytes = try bytes(0...allowed.upperBound, what)
    guard bytes.isEmpty || allowed.contains(bytes.count) else {
      throw ReaderLinkError("\(what) of \(bytes.count) bytes")
    }
    return bytes
  }
}
