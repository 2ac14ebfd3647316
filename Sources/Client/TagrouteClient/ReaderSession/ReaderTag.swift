public import Bus
import Names

/// A tag in a reader session (`org.tagroute.Tagroute1.Tag`).
///
/// It exists from `tagDetected` to `tagRemoved` or the session's end. After that its calls fail with `tagLost`. It does
/// not keep its session alive. A tag's data is no proof of identity, because anyone can copy it.
///
/// Calls for the tags of one session run one after the other, in their order; 16 may wait. Every call throws
/// `BusError`; `TagFailure` gives its meaning.
public struct ReaderTag: Sendable, Hashable {
  /// Whether NDEF messages can be read and written.
  public enum Status: String, Sendable, Hashable {
    /// The tag holds none, and cannot be made to. A value that this version does not know is read as this.
    case notSupported = "not-supported"
    /// They can be read and written.
    case readWrite = "read-write"
    /// They can only be read.
    case readOnly = "read-only"
  }

  /// The object path.
  public let path: ObjectPath
  /// `type-1`, `type-2`, `type-3`, `type-4a`, `type-4b`, `type-5` or `mifare-classic`. Later versions may add values.
  /// Empty if the tag had gone before it could be asked.
  public let technology: String
  /// UID, PUPI or IDm, 0 to 10 bytes. The UID of a tag of ISO/IEC 15693 has eight bytes, the first one is E0.
  public let uid: [UInt8]
  /// Type A: the answer to request, two bytes, in reverse order of transmission (ISO/IEC 14443-3, 6.5.2). Empty for
  /// other tags, and if the reader does not report it.
  public let atqa: [UInt8]
  /// Type A: the select acknowledge (ISO/IEC 14443-3, 6.5.3). Nil for other tags, and if the reader does not report it.
  public let sak: UInt8?
  /// Type 4A: the historical bytes of the answer to select (ISO/IEC 14443-4, 5.2.7); empty if there are none.
  public let historicalBytes: [UInt8]
  /// Type B: the application data of the answer to request, four bytes (ISO/IEC 14443-3, 7.9.3); else empty.
  public let applicationData: [UInt8]
  /// Type B: the protocol info of the answer to request, three or four bytes (ISO/IEC 14443-3, 7.9.4); else empty.
  public let protocolInfo: [UInt8]
  /// FeliCa: the manufacture ID, eight bytes (JIS X 6319-4); else empty.
  public let idm: [UInt8]
  /// FeliCa: the manufacture parameters, eight bytes (JIS X 6319-4); else empty.
  public let pmm: [UInt8]
  /// FeliCa: the system that has answered; else nil.
  public let systemCode: UInt16?
  /// The selected application: the first declared one that the card has; else empty.
  public let selectedApplication: [UInt8]

  private let connection: Connection
  /// The daemon's unique name. The tag of another daemon at the same path is a different one.
  private let daemon: String

  init(_ path: ObjectPath, _ properties: [String: Value], _ connection: Connection, _ daemon: String) {
    self.path = path
    self.connection = connection
    self.daemon = daemon
    technology = properties["Technology"]?.asString ?? ""
    uid = properties["UID"]?.asBytes ?? []
    let atqa = properties["ATQA"]?.asBytes ?? []
    self.atqa = atqa
    sak = atqa.isEmpty ? nil : properties["SAK"]?.asByte
    historicalBytes = properties["HistoricalBytes"]?.asBytes ?? []
    applicationData = properties["ApplicationData"]?.asBytes ?? []
    protocolInfo = properties["ProtocolInfo"]?.asBytes ?? []
    idm = properties["IDm"]?.asBytes ?? []
    pmm = properties["PMm"]?.asBytes ?? []
    systemCode = properties["SystemCode"]?.asUInt16.flatMap { $0 == 0 ? nil : $0 }
    selectedApplication = properties["SelectedApplication"]?.asBytes ?? []
  }

  /// Finds out whether the tag holds NDEF messages.
  ///
  /// - Returns: the status, and the size of the longest message that fits, in bytes.
  /// - Throws: `BusError`.
  public func queryNDEF() async throws(BusError) -> (status: Status, capacity: UInt32) {
    let reply = try await call("QueryNDEF")
    return (
      reply.first?.asString.flatMap(Status.init) ?? .notSupported, reply.dropFirst().first?.asUInt32 ?? 0
    )
  }

  /// Reads the NDEF message.
  ///
  /// - Returns: the message, encoded, at most 1 MiB.
  /// - Throws: `BusError`; `TagFailure.noMessage` if the tag is formatted and holds none.
  public func readNDEF() async throws(BusError) -> [UInt8] { try await call("ReadNDEF").first?.asBytes ?? [] }

  /// Replaces the tag's NDEF message, and reads the new one back.
  ///
  /// If the tag is removed meanwhile, it holds no message instead of an incomplete one.
  ///
  /// - Parameter message: the message, encoded, at most 1 MiB; empty removes the current one.
  /// - Throws: `BusError`; the session needs the access `write`.
  public func writeNDEF(_ message: [UInt8]) async throws(BusError) {
    _ = try await call("WriteNDEF", [.bytes(message)])
  }

  /// Makes the tag read-only. This cannot be undone.
  ///
  /// - Throws: `BusError`; the session needs the access `write`.
  public func lock() async throws(BusError) { _ = try await call("Lock") }

  /// Sends a raw command.
  ///
  /// - Parameters:
  ///   - command: for an ISO-DEP card an APDU, with its status word in the answer; for FeliCa the command code and the
  ///     bytes after it, without the length; for an Ultralight or NTAG as in its data sheet, without checksum; for a tag
  ///     of ISO/IEC 15693 a request from its flags on, without checksum.
  ///   - timeout: how long the tag may take, 1 ms to 5 s.
  /// - Returns: the tag's answer.
  /// - Throws: `BusError`. A command needs the access `write`, unless it is known to change no data. A command is never
  ///   sent to an undeclared application or system, or to a payment application.
  public func transceive(_ command: [UInt8], timeout: Duration = .seconds(1)) async throws(BusError) -> [UInt8] {
    let milliseconds = min(max(timeout / .milliseconds(1), 1), Double(UInt32.max))
    let answer = try await call("Transceive", [.bytes(command), .uint32(UInt32(milliseconds))])
    return answer.first?.asBytes ?? []
  }

  private func call(_ member: String, _ arguments: [Value] = []) async throws(BusError) -> [Value] {
    // The session's limit of 60 seconds ends a call earlier.
    try await connection.call(
      daemon, path, Names.Daemon.tagInterface, member, arguments, timeout: .seconds(90), autoStart: false)
  }

  /// Whether both are the same object.
  public static func == (a: ReaderTag, b: ReaderTag) -> Bool { a.path == b.path && a.daemon == b.daemon }

  /// Hashes the object path.
  public func hash(into hasher: inout Hasher) { hasher.combine(path) }
}

/// Why an operation on a tag failed, from the error of a `ReaderTag`'s call.
public enum TagFailure: Sendable, Hashable, CaseIterable {
  /// The tag was removed, or the session and its tags are gone.
  case tagLost
  /// The tag is formatted and holds no message.
  case noMessage
  /// The tag is read-only.
  case readOnly
  /// The message, or the command, is too long for the tag or the reader.
  case tooLong
  /// This kind of tag does not support it, or the tag is not formatted for NDEF.
  case notSupported
  /// The tag refuses: it is protected, or its data is inconsistent.
  case refused
  /// The tag is there and did not answer in time.
  case timedOut
  /// Too many calls are waiting.
  case busy
  /// The data that was read back is not the data that was written.
  case notAsWritten
  /// The tag cannot be made read-only.
  case cannotLock
  /// The reader has failed, or was removed.
  case readerLost
  /// The session has ended.
  case sessionEnded
  /// The tag is blank. A session with ``ReaderSessionOptions/formatsBlankTags`` formats it.
  case notFormatted
  /// The operation is not allowed; the error's message gives the details.
  case notAuthorized

  /// Nil if the error has another cause: a wrong argument, the bus, the daemon.
  ///
  /// - Parameter error: the error of a `ReaderTag`'s call.
  public init?(_ error: BusError) {
    switch error.name {
    case Names.Errors.tagLost, BusError.Name.unknownObject: self = .tagLost
    case Names.Errors.empty: self = .noMessage
    case Names.Errors.readOnly: self = .readOnly
    case Names.Errors.tooLong: self = .tooLong
    case Names.Errors.notSupported, Names.Errors.notPossible: self = .notSupported
    case Names.Errors.refused: self = .refused
    case Names.Errors.timedOut: self = .timedOut
    case Names.Errors.busy, Names.Errors.tooMany: self = .busy
    case Names.Errors.notAsWritten: self = .notAsWritten
    case Names.Errors.cannotLock: self = .cannotLock
    case Names.Errors.notFormatted: self = .notFormatted
    case Names.Errors.readerLost: self = .readerLost
    case Names.Errors.sessionEnded: self = .sessionEnded
    case Names.Errors.notAuthorized, BusError.Name.accessDenied: self = .notAuthorized
    default: return nil
    }
  }

  /// Whether a retry with the same tag may succeed in a moment.
  public var isTemporary: Bool { [.tagLost, .timedOut, .busy, .sessionEnded].contains(self) }
}
