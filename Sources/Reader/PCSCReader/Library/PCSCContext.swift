import CPCSC

/// A connection to pcscd (`SCardEstablishContext`). Only one thread at a time may use it.
///
/// libpcsclite before 2.0.2 keeps one list of reader states for all threads, without a lock. So in this process only one
/// thread calls `SCardListReaders` and `SCardGetStatusChange`.
struct PCSCContext: Sendable {
  let handle: SCARDCONTEXT

  /// Connects to pcscd. Blocks until pcscd answers, possibly forever. Retries a connection that is closed at once: pcscd
  /// may be ending. If pcscd refuses it, the next attempts fail too. A refusal in words is retried as well, because
  /// libpcsclite 1.9.9 has the same error for a connection that was reset.
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

  /// The present readers.
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
