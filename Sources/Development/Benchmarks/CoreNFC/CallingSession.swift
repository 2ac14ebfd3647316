import Bus
import CoreNFC
import EventLoop
import Foundation
import Names
import TagrouteClient
import TestKit

/// A reader session that repeats one call to one tag.
protocol CallingSession: AnyObject {
  /// Waits until the session has the reader.
  func activation() async throws
  /// Waits until the tag that was placed is found, and no other kind of tag is looked for any more.
  func detection() async throws
  /// Makes the call. Returns the moment when the program got the answer, before the answer is checked.
  func call() async throws -> ContinuousClock.Instant
  /// Ends the session, and waits until it is over.
  func end() async throws
}

/// A session over TagrouteClient, on its own connection, as a session of Core NFC has one.
final class ClientSession: CallingSession {
  private let kind: TagCall
  private let connection: Connection
  private let session: ReaderSession
  private var events: ReaderSession.Events.Iterator
  private var tag: ReaderTag?

  init(_ kind: TagCall, on address: BusAddress, loop: EventLoop) async throws {
    self.kind = kind
    connection = try await Connection.open(address, on: loop)
    session = try await ReaderSession.start(kind.options, on: connection)
    events = session.events.makeAsyncIterator()
  }

  func activation() async throws { try await wait { $0 == .activated } }

  func detection() async throws { try await wait { $0 == .roundEnded } }

  func call() async throws -> ContinuousClock.Instant {
    guard let tag else { throw RigError("no tag was found") }
    let answer: [UInt8] =
      switch kind {
      case .message: try await tag.readNDEF()
      case .pages: try await tag.transceive(TagCall.read)
      // Core NFC gives a card this time, too.
      case .selection: try await tag.transceive(TagCall.select, timeout: .seconds(5))
      }
    let answered = ContinuousClock.now
    let isRight =
      switch kind {
      case .message: answer.count == 37
      case .pages: answer.count == 16
      case .selection: answer == [0x90, 0x00]
      }
    guard isRight else { throw RigError("\(kind.name): the answer is wrong: \(answer)") }
    return answered
  }

  func end() async throws {
    try await session.invalidate()
    try await wait { if case .ended = $0 { true } else { false } }
    await connection.close()
  }

  private func wait(until isExpected: (ReaderSessionEvent) -> Bool) async throws {
    while let event = await events.next(isolation: #isolation) {
      if case .tagDetected(let found) = event { tag = found }
      if isExpected(event) { return }
      if case .ended(let end) = event { throw RigError("the session is over: \(end.reason.rawValue)") }
    }
    throw RigError("the session reports nothing more")
  }
}

/// A session over Core NFC, which makes its calls with a completion handler or as `async` functions.
final class CoreNFCSession: CallingSession {
  private let kind: TagCall
  private let usesHandler: Bool
  private let session: NFCReaderSession
  /// The session holds it weakly.
  private let delegate: SessionDelegate
  private var events: AsyncStream<SessionDelegate.Event>.Iterator
  private var tag: FoundTag?

  private let read = Data(TagCall.read)
  private let select = NFCISO7816APDU(
    instructionClass: 0x00, instructionCode: 0xA4, p1Parameter: 0x04, p2Parameter: 0x00,
    data: Data(TagCall.application), expectedResponseLength: 256)

  /// Begins the session, on the bus of `DBUS_SYSTEM_BUS_ADDRESS`.
  init(_ kind: TagCall, usesHandler: Bool) {
    self.kind = kind
    self.usesHandler = usesHandler
    let delegate = SessionDelegate()
    self.delegate = delegate
    events = delegate.events.makeAsyncIterator()
    switch kind {
    case .message:
      session = NFCNDEFReaderSession(delegate: delegate, queue: nil, invalidateAfterFirstRead: false)
    case .pages, .selection:
      let application = Hexadecimal.text(TagCall.application)
      session = NFCTagReaderSession(
        configuration: NFCTagReaderSession.Configuration(
          pollingOption: .iso14443, iso7816SelectIdentifiers: [application]),
        delegate: delegate, queue: nil)
    }
    session.begin()
  }

  func activation() async throws {
    guard case .active = try await event() else { throw RigError("the session did not become active") }
  }

  func detection() async throws {
    guard case .found(let found) = try await event() else { throw RigError("no tag was found") }
    switch (session, found) {
    case (let session as NFCNDEFReaderSession, .ndef(let tag)): try await session.connect(to: tag)
    case (let session as NFCTagReaderSession, .tag(let tag)): try await session.connect(to: tag)
    default: throw RigError("the session found a tag of another session")
    }
    tag = found
  }

  func call() async throws -> ContinuousClock.Instant {
    guard let tag else { throw RigError("no tag was found") }
    return try await usesHandler ? callWithHandler(tag) : callAsync(tag)
  }

  func end() async throws {
    session.invalidate()
    while let event = await events.next(isolation: #isolation) {
      if case .ended = event { return }
    }
    throw RigError("the session did not report its end")
  }

  private func event() async throws -> SessionDelegate.Event {
    let event = await events.next(isolation: #isolation)
    if case .ended(let error)? = event { throw RigError("the session is over: \(error)") }
    guard let event else { throw RigError("the session reports nothing more") }
    return event
  }

  private func callAsync(_ tag: FoundTag) async throws -> ContinuousClock.Instant {
    switch tag {
    case .ndef(let tag):
      let message = try await tag.readNDEF()
      return try answered(nil, message.records.count == 1).get()
    case .tag(.miFare(let tag)):
      let pages = try await tag.sendMiFareCommand(commandPacket: read)
      return try answered(nil, pages.count == 16).get()
    case .tag(.iso7816(let tag)):
      let (_, first, second) = try await tag.sendCommand(apdu: select)
      return try answered(nil, first == 0x90 && second == 0x00).get()
    default: throw RigError("\(kind.name): the tag is of another kind")
    }
  }

  private func callWithHandler(_ tag: FoundTag) async throws -> ContinuousClock.Instant {
    try await withCheckedThrowingContinuation { continuation in
      switch tag {
      case .ndef(let tag):
        tag.readNDEF(completionHandler: { message, error in
          continuation.resume(with: answered(error, message?.records.count == 1))
        })
      case .tag(.miFare(let tag)):
        tag.sendMiFareCommand(
          commandPacket: read,
          completionHandler: { pages, error in
            continuation.resume(with: answered(error, pages.count == 16))
          })
      case .tag(.iso7816(let tag)):
        tag.sendCommand(
          apdu: select,
          completionHandler: { _, first, second, error in
            continuation.resume(with: answered(error, first == 0x90 && second == 0x00))
          })
      default: continuation.resume(throwing: RigError("\(kind.name): the tag is of another kind"))
      }
    }
  }
}

/// The present moment, which is taken before `isRight` checks the answer.
private func answered(
  _ error: (any Error)?, _ isRight: @autoclosure () -> Bool
) -> Result<ContinuousClock.Instant, any Error> {
  let moment = ContinuousClock.now
  if let error { return .failure(error) }
  return isRight() ? .success(moment) : .failure(RigError("the answer of the tag is wrong"))
}

/// A tag on its way from the session's queue to the benchmark.
///
/// Sending it is safe: the session makes its tags for one callback, and the delegate does not keep them.
private enum FoundTag: @unchecked Sendable {
  case ndef(any NFCNDEFTag)
  case tag(NFCTag)
}

/// Passes on what a session reports to its delegate.
private final class SessionDelegate: NSObject, NFCNDEFReaderSessionDelegate, NFCTagReaderSessionDelegate {
  enum Event: Sendable {
    case active
    case found(FoundTag)
    case ended(any Error)
  }

  let events: AsyncStream<Event>
  private let continuation: AsyncStream<Event>.Continuation

  override init() {
    (events, continuation) = AsyncStream.makeStream()
    super.init()
  }

  func readerSessionDidBecomeActive(_ session: NFCNDEFReaderSession) { continuation.yield(.active) }

  /// Required, but a delegate that gets tags gets no messages.
  func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage]) {}

  func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
    if let tag = tags.first { continuation.yield(.found(.ndef(tag))) }
  }

  func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error) {
    continuation.yield(.ended(error))
  }

  func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession) { continuation.yield(.active) }

  func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag]) {
    if let tag = tags.first { continuation.yield(.found(.tag(tag))) }
  }

  func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: any Error) {
    continuation.yield(.ended(error))
  }
}
