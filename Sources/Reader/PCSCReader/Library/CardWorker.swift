import CPCSC
import Names
import ReaderKit

/// Makes the calls for one card. Only `CardThread` uses it, on its own thread.
struct CardWorker {
  private let context: PCSCContext
  /// Nil if the daemon does not want a trace.
  private let trace: TraceWriter?
  private var card: SCARDHANDLE?
  private var activeProtocol: DWORD = 0
  private var hasTransaction = false
  /// In a session, the reader looks for no card.
  private var isInSession = false
  private var answer = [UInt8](repeating: 0, count: Self.longestAnswer)

  /// MAX_BUFFER_SIZE_EXTENDED of pcsclite.h, rounded up.
  private static let longestAnswer = 65_552
  /// The ATR of a contactless card offers both. T=0 alone fails with some drivers at the first command.
  private static let protocols = DWORD(SCARD_PROTOCOL_T0 | SCARD_PROTOCOL_T1)

  init(_ context: PCSCContext, _ trace: TraceWriter?) { (self.context, self.trace) = (context, trace) }

  /// `isAbandoned`: the result is no longer wanted.
  mutating func perform(
    _ call: CardCall, isOfSession: Bool, isAbandoned: () -> Bool
  ) throws(PCSCError) -> [UInt8] {
    let start = SuspendingClock.now
    do throws(PCSCError) {
      let answer = try make(call, isAbandoned: isAbandoned)
      trace?.write(call.recorded(isOfSession, answer: answer), since: start)
      return answer
    } catch {
      trace?.write(call.recorded(isOfSession, error: error), since: start)
      throw error
    }
  }

  private mutating func make(_ call: CardCall, isAbandoned: () -> Bool) throws(PCSCError) -> [UInt8] {
    switch call {
    case .open(let reader):
      try connect(reader, SCARD_SHARE_SHARED, protocols: Self.protocols)
      // The wait for a transaction may be long, and no call can interrupt it.
      if isAbandoned() { return [] }
      try begin()
      return []
    case .openReader(let reader):
      try connect(reader, SCARD_SHARE_DIRECT, protocols: 0)
      return []
    case .transmit(let command): return try transmit(command)
    case .control(let code, let command): return try control(code, command)
    case .attribute(let number):
      guard let card else { throw .removedCard }
      return try Self.attribute(card, number)
    case .reset:
      try reconnect(SCARD_UNPOWER_CARD)
      return []
    case .close(let disposition):
      close(disposition)
      return []
    }
  }

  private mutating func connect(_ reader: ReaderName, _ mode: Int32, protocols: DWORD) throws(PCSCError) {
    close(.leave)
    var handle: SCARDHANDLE = 0
    let result = SCardConnect(
      context.handle, reader.terminated, DWORD(mode), protocols, &handle, &activeProtocol)
    try PCSCContext.check(result)
    card = handle
  }

  /// Begins a transaction. Another program may reset the card while this call waits for that program's transaction. The
  /// call then fails, and every later one, until this program reconnects. After any failure, the card is not connected.
  private mutating func begin() throws(PCSCError) {
    guard let card else { throw .removedCard }
    do throws(PCSCError) {
      var resets = 0
      while let error = PCSCError(result: SCardBeginTransaction(card)) {
        resets += 1
        guard error == .resetCard, resets <= CardReader.mostResets else { throw error }
        try reconnect(SCARD_LEAVE_CARD)
      }
      hasTransaction = true
    } catch {
      close(.leave)
      throw error
    }
  }

  private mutating func transmit(_ command: [UInt8]) throws(PCSCError) -> [UInt8] {
    guard let card else { throw .removedCard }
    var header = SCARD_IO_REQUEST()
    header.dwProtocol = activeProtocol
    header.cbPciLength = UInt(MemoryLayout<SCARD_IO_REQUEST>.size)
    var size = DWORD(answer.count)
    let result = SCardTransmit(card, &header, command, DWORD(command.count), nil, &answer, &size)
    if let error = PCSCError(result: result) {
      // Every call fails with this error until the program reconnects.
      if error == .resetCard { try reconnect(SCARD_LEAVE_CARD) }
      throw error
    }
    isInSession = TransparentSession.isOpen(after: command) ?? isInSession
    return Array(answer.prefix(Int(clamping: size)))
  }

  private mutating func control(_ code: UInt32, _ command: [UInt8]) throws(PCSCError) -> [UInt8] {
    guard let card else { throw .removedCard }
    return try Self.control(card, code, command)
  }

  private mutating func reconnect(_ initialization: Int32) throws(PCSCError) {
    guard let card else { throw .removedCard }
    let result = SCardReconnect(
      card, DWORD(SCARD_SHARE_SHARED), Self.protocols, DWORD(initialization), &activeProtocol)
    try PCSCContext.check(result)
  }

  /// Ends the transaction and the connection in any state.
  mutating func close(_ disposition: CardDisposition) {
    guard let card else { return }
    if isInSession { _ = try? transmit(TransparentSession.endCommand) }
    isInSession = false
    if hasTransaction { _ = SCardEndTransaction(card, DWORD(SCARD_LEAVE_CARD)) }
    let ending = disposition == .reset ? SCARD_UNPOWER_CARD : SCARD_LEAVE_CARD
    // pcscd still has the connection if this call fails, for example with the error for a card that was reset.
    if PCSCError(result: SCardDisconnect(card, DWORD(ending))) != nil, ending != SCARD_LEAVE_CARD {
      _ = SCardDisconnect(card, DWORD(SCARD_LEAVE_CARD))
    }
    self.card = nil
    hasTransaction = false
  }

  static func control(_ card: SCARDHANDLE, _ code: UInt32, _ command: [UInt8]) throws(PCSCError) -> [UInt8] {
    var answer = [UInt8](repeating: 0, count: longestControlAnswer)
    var size: DWORD = 0
    let result = SCardControl(
      card, DWORD(code), command, DWORD(command.count), &answer, DWORD(answer.count), &size)
    try PCSCContext.check(result)
    return Array(answer.prefix(Int(clamping: size)))
  }

  static func attribute(_ card: SCARDHANDLE, _ number: UInt32) throws(PCSCError) -> [UInt8] {
    // The most that pcscd accepts, MAX_BUFFER_SIZE of pcsclite.h.
    var value = [UInt8](repeating: 0, count: 264)
    var size = DWORD(value.count)
    try PCSCContext.check(SCardGetAttrib(card, DWORD(number), &value, &size))
    return Array(value.prefix(Int(clamping: size)))
  }

  private static let longestControlAnswer = 4096
}

extension CardCall {
  /// For a trace.
  fileprivate func recorded(
    _ isOfSession: Bool, answer: [UInt8]? = nil, error: PCSCError? = nil
  ) -> TraceLine.Exchange {
    let (call, code, command): (TraceLine.Exchange.Call, UInt32?, [UInt8]) =
      switch self {
      case .open: (.connect, nil, [])
      case .openReader: (.connectReader, nil, [])
      case .transmit(let command): (.transmit, nil, command)
      case .control(let code, let command): (.control, code, command)
      case .attribute(let number): (.attribute, number, [])
      case .reset: (.reset, nil, [])
      case .close: (.disconnect, nil, [])
      }
    var exchange = TraceLine.Exchange(
      call: call, code: code, command: command, answer: answer, result: error.map { Int64($0.code) })
    exchange.isOfSession = isOfSession
    return exchange
  }
}
