import Bus
import EventLoop
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

  /// Starts the session.
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
