/// A tag that is to be left alone until it has been away.
public struct AvoidedTag: Sendable, Hashable {
  /// The UID that it had.
  public let uid: [UInt8]
  /// What kind of tag it is: `type-4b`.
  public let technology: String
  /// Whether a tag of its kind that makes up its UID may be this one, whatever its UID is now.
  public let mayHaveChanged: Bool

  /// - Parameters:
  ///   - uid: the UID that it had.
  ///   - technology: `type-2`, `type-4b`, ….
  ///   - mayHaveChanged: whether a tag of its kind that makes up its UID may be this one.
  public init(uid: [UInt8], technology: String, mayHaveChanged: Bool) {
    self.uid = uid
    self.technology = technology
    self.mayHaveChanged = mayHaveChanged
  }
}

/// What the daemon tells a reader process.
public enum ReaderCommand: Sendable, Hashable {
  /// Look for tags, or stop doing so. Answered by `ReaderMessage.scanning`; when `scanning(false)` comes back the RF field
  /// is off.
  case scan(Bool)
  /// Neither examine nor announce this tag until it has been away: it was announced by an earlier process, or it brought that
  /// process down. One tag and no second one. Answered by `ReaderMessage.forgotten` with this UID once it is away.
  case avoid(AvoidedTag)
  /// See at once whether the device is there: it may just have been plugged in or unplugged. A process that sleeps for want
  /// of one looks for it; one that has it asks it for a sign of life. Answered by a heartbeat, and by
  /// `ReaderMessage.state` where that is another one.
  case lookForDevice
  /// Switch the field off, close the device and exit.
  case shutDown
}

extension ReaderCommand {
  private enum Kind: UInt8 { case scan = 1, avoid, shutDown, lookForDevice }

  /// The frame that carries this command.
  public var frame: [UInt8] {
    switch self {
    case .scan(let on):
      var writer = FrameWriter(kind: Kind.scan.rawValue)
      writer.write(on)
      return writer.frame
    case .avoid(let tag):
      var writer = FrameWriter(kind: Kind.avoid.rawValue)
      writer.write(bytes: tag.uid)
      writer.write(text: tag.technology, ReaderLimits.technology)
      writer.write(tag.mayHaveChanged)
      return writer.frame
    case .shutDown:
      return FrameWriter(kind: Kind.shutDown.rawValue).frame
    case .lookForDevice:
      return FrameWriter(kind: Kind.lookForDevice.rawValue).frame
    }
  }

  /// Reads a command from what a frame carries.
  ///
  /// - Parameter payload: a frame without its length.
  /// - Throws: `ReaderLinkError` where it is no command of this version.
  public init(payload: ArraySlice<UInt8>) throws(ReaderLinkError) {
    var reader = try FrameReader(payload)
    switch Kind(rawValue: reader.kind) {
    case .scan: self = .scan(try reader.boolean())
    case .avoid:
      let uid = try reader.bytes(1...ReaderLimits.uid, "a UID")
      let technology = try reader.technology()
      self = .avoid(AvoidedTag(uid: uid, technology: technology, mayHaveChanged: try reader.boolean()))
    case .shutDown: self = .shutDown
    case .lookForDevice: self = .lookForDevice
    case nil: throw ReaderLinkError("a command of the unknown kind \(reader.kind)")
    }
    try reader.end()
  }
}
