public import Bus
import Names

/// A tag in a reader session (`org.tagroute.Tagroute1.Tag`).
///
/// It is there from `tagDetected` to `tagRemoved` or the session's end; afterwards its calls fail with `tagLost`. It does not
/// keep its session. What a tag says of itself is no proof of anything: anybody can copy it.
///
/// What is asked of the tags of one session is done one after the other, in the order of the calls; 16 may wait. Every call
/// throws `BusError`; `TagFailure` tells what it means.
public struct ReaderTag: Sendable, Hashable {
  /// Whether NDEF messages can be read and written.
  public enum Status: String, Sendable, Hashable {
    /// It holds none, and cannot be made to. Values that this version does not know count as this.
    case notSupported = "not-supported"
    /// It can be read and written.
    case readWrite = "read-write"
    /// It can only be read.
    case readOnly = "read-only"
  }

  /// The object path.
  public let path: ObjectPath
  /// `type-1`, `type-2`, `type-3`, `type-4a`, `type-4b` or `mifare-classic`; others may come. Empty where the tag was gone
  /// before it could be asked for.
  public let technology: String
  /// UID, PUPI or IDm, 0 to 10 bytes.
  public let uid: [UInt8]
  /// Type A: the answer to request, two bytes, the one first that is sent last (ISO/IEC 14443-3, 6.5.2); else empty.
  public let atqa: [UInt8]
  /// Type A: the select acknowledge (ISO/IEC 14443-3, 6.5.3); else nil.
  public let sak: UInt8?
  /// Type 4A: the historical bytes of the answer to select (ISO/IEC 14443-4, 5.2.7); empty where there are none.
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
  /// The first of the declared applications that the card has, which is the one that is selected; else empty.
  public let selectedApplication: [UInt8]

  private let connection: Connection
  /// The daemon's unique name: another daemon's tag at the same path is not this one.
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
  /// - Returns: what can be done, and how many bytes the longest message has that goes on it.
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
  /// - Throws: `BusError`; `TagFailure.noMessage` where the tag is formatted and holds none.
  public func readNDEF() async throws(BusError) -> [UInt8] { try await call("ReadNDEF").first?.asBytes ?? [] }

  /// Writes an NDEF message in the place of the one that is there, and reads it back.
  ///
  /// A tag that is torn away meanwhile holds no message, not half of one.
  ///
  /// - Parameter message: the message, encoded, at most 1 MiB; empty takes what is there away.
  /// - Throws: `BusError`; the session needs the access `write`.
  public func writeNDEF(_ message: [UInt8]) async throws(BusError) {
    _ = try await call("WriteNDEF", [.bytes(message)])
  }

  /// Makes the tag read-only. Nothing takes that back.
  ///
  /// - Throws: `BusError`; the session needs the access `write`.
  public func lock() async throws(BusError) { _ = try await call("Lock") }

  /// Sends a command of one's own.
  ///
  /// - Parameters:
  ///   - command: for an ISO-DEP card an APDU with its status word in the answer; for FeliCa the command code and what
  ///     follows, without the length; for an Ultralight or NTAG as in its data sheet, without check sum.
  ///   - timeout: how long the tag may take, 1 ms to 5 s.
  /// - Returns: the tag's answer.
  /// - Throws: `BusError`; a command that is not known to change nothing needs the access `write`, and one that reaches for
  ///   what was not declared, or for an application that pays, is never sent.
  public func transceive(_ command: [UInt8], timeout: Duration = .seconds(1)) async throws(BusError) -> [UInt8] {
    let milliseconds = min(max(timeout / .milliseconds(1), 1), Double(UInt32.max))
    let answer = try await call("Transceive", [.bytes(command), .uint32(UInt32(milliseconds))])
    return answer.first?.asBytes ?? []
  }

  private func call(_ member: String, _ arguments: [Value] = []) async throws(BusError) -> [Value] {
    // The session's own limit of 60 seconds ends a call before this does.
    try await connection.call(
      daemon, path, Names.Daemon.tagInterface, member, arguments, timeout: .seconds(90), autoStart: false)
  }

  /// Two are equal where they are the same object.
  public static func == (a: ReaderTag, b: ReaderTag) -> Bool { a.path == b.path && a.daemon == b.daemon }

  /// Hashes the object path.
  public func hash(into hasher: inout Hasher) { hasher.combine(path) }
}
