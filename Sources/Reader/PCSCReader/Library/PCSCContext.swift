import CPCSC

/// A connection to pcscd (`SCardEstablishContext`). Only one thread at a time may use it.
///
/// libpcsclite before 2.0.2 keeps one list of reader states for all threads, without a lock. So in this process only
/// one thread calls `SCardListReaders` and `SCardGetStatusChange`.
struct PCSCContext: Sendable {
  let handle: SCARDCONTEXT

  /// Connects to pcscd. Blocks until pcscd answers, possibly forever. Retries a connection that is closed at once:
  /// pcscd may be ending. If pcscd refuses it, the next attempts fail too. A refusal in words is retried as well,
  /// because libpcsclite 1.9.9 has the same error for a connection that was reset.
  static func establish() throws(PCSCError) -> PCSCContext {
    var handle: SCARDCONTEXT = 0
    var attempt = 1
    while let error = PCSCError(result: SCardEstablishContext(DWORD(SCARD_SCOPE_SYSTEM), nil, nil, &handle)) {
      guard error.endsContext, error != .noService, attempt < mostConnections else { throw error }
      attempt += 1
      ListWatch.pauseBriefly()
    }
    return PCSCContext(handle: handle)
  }

  func release() { _ = SCardReleaseContext(handle) }

  func readers() throws(PCSCError) -> [ReaderName] {
    // A reader may appear between the two calls.
    for _ in 0..<Self.mostLists {
      var size: DWORD = 0
      if let error = PCSCError(result: SCardListReaders(handle, nil, nil, &size)) {
        if error == .noReaders { return [] }
        throw error
      }
      var list = [CChar](repeating: 0, count: Int(clamping: size) + Self.spare)
      size = DWORD(list.count)
      switch PCSCError(result: SCardListReaders(handle, nil, &list, &size)) {
      case nil: return ReaderName.all(in: list.prefix(Int(clamping: size)).map { UInt8(bitPattern: $0) })
      case PCSCError.noReaders?: return []
      case PCSCError.insufficientBuffer?: continue
      case let error?: throw error
      }
    }
    throw .insufficientBuffer
  }

  /// The most attempts to connect. `pauseBriefly()` comes between two.
  private static let mostConnections = 3
  /// The most attempts to read the list, if it grows each time.
  private static let mostLists = 4
  private static let spare = 256

  static func check(_ result: LONG) throws(PCSCError) {
    if let error = PCSCError(result: result) { throw error }
  }
}

/// An error of pcsc-lite (pcsclite.h).
struct PCSCError: Error, Hashable, Sendable {
  let code: UInt32

  init(_ code: UInt32) { self.code = code }

  /// Nil for success. pcsc-lite's `LONG` has the code in its low 32 bits, on every architecture.
  init?(result: Int) {
    code = UInt32(truncatingIfNeeded: result)
    if code == 0 { return nil }
  }

  static let cancelled = PCSCError(0x8010_0002)
  static let invalidHandle = PCSCError(0x8010_0003)
  static let insufficientBuffer = PCSCError(0x8010_0008)
  static let unknownReader = PCSCError(0x8010_0009)
  static let timeout = PCSCError(0x8010_000A)
  static let sharingViolation = PCSCError(0x8010_000B)
  static let noCard = PCSCError(0x8010_000C)
  static let communication = PCSCError(0x8010_0013)
  static let notTransacted = PCSCError(0x8010_0016)
  static let readerUnavailable = PCSCError(0x8010_0017)
  static let noService = PCSCError(0x8010_001D)
  static let serviceStopped = PCSCError(0x8010_001E)
  static let noReaders = PCSCError(0x8010_002E)
  static let unresponsiveCard = PCSCError(0x8010_0066)
  static let unpoweredCard = PCSCError(0x8010_0067)
  static let resetCard = PCSCError(0x8010_0068)
  static let removedCard = PCSCError(0x8010_0069)
  static let securityViolation = PCSCError(0x8010_006A)

  /// Whether the context can no longer be used, because pcscd has ended, has closed the connection, or does not allow
  /// the access. The last three look alike: libpcsclite 1.9.9 calls a connection that was reset a security violation,
  /// and pcscd before 2.0 closes a connection that polkit refuses.
  var endsContext: Bool { [.communication, .noService, .serviceStopped, .securityViolation].contains(self) }

  /// The reader could not give the card power.
  var isMute: Bool { self == .unresponsiveCard || self == .unpoweredCard }
}

extension PCSCError: CustomStringConvertible {
  /// The end of a sentence: "the card was removed".
  var description: String {
    switch self {
    case .sharingViolation: "another program uses the card exclusively"
    case .noCard, .removedCard: "the card was removed"
    case .resetCard: "another program has reset the card"
    case .unresponsiveCard, .unpoweredCard: "the reader cannot give the card power"
    case .notTransacted: "the exchange with the card failed"
    case .readerUnavailable, .unknownReader: "pcscd no longer has the reader"
    case .communication, .noService, .serviceStopped, .invalidHandle: "pcscd has closed the connection"
    case .securityViolation: "pcscd does not allow the access"
    default: "error 0x\(String(code, radix: 16, uppercase: true)) of pcscd"
    }
  }
}

extension CardFailure {
  /// For a call that concerns the connected card.
  init(_ error: PCSCError) {
    switch error {
    case .noCard, .removedCard: self = .removed
    case .resetCard: self = .reset
    case .readerUnavailable, .unknownReader, .invalidHandle: self = .readerGone(error.description)
    case _ where error.endsContext: self = .readerGone(error.description)
    default: self = .exchange(error.description)
    }
  }
}
