public import Dispatch
public import Foundation
import Names
import Synchronization
import TagrouteClient

/// Takes the callbacks of an NDEF session (iOS 11).
///
/// A delegate with `readerSession(_:didDetect:)` gets tags. A delegate without it gets messages. Swift finds the method
/// if the type that declares its conformance has it. A method that only a subclass adds is not called.
public protocol NFCNDEFReaderSessionDelegate: NSObjectProtocol {
  /// The session is over. This is its last callback, and comes exactly once.
  func readerSession(_ session: NFCNDEFReaderSession, didInvalidateWithError error: any Error)
  /// The messages of the tags that were found together.
  func readerSession(_ session: NFCNDEFReaderSession, didDetectNDEFs messages: [NFCNDEFMessage])
  /// The tags that were found together. Optional (iOS 13).
  func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag])
  /// The session has the reader. Optional (iOS 13).
  func readerSessionDidBecomeActive(_ session: NFCNDEFReaderSession)
}

extension NFCNDEFReaderSessionDelegate {
  /// Reads the tags, and calls `readerSession(_:didDetectNDEFs:)` with the messages.
  public func readerSession(_ session: NFCNDEFReaderSession, didDetect tags: [any NFCNDEFTag]) {
    session.readMessages(tags)
  }

  /// Does nothing.
  public func readerSessionDidBecomeActive(_ session: NFCNDEFReaderSession) {}
}

/// A session that looks for tags with NDEF messages (iOS 11).
///
/// If the delegate has `readerSession(_:didDetect:)`, the session reports tags, and looks for the next ones after
/// `restartPolling()` only. Else it reads each tag itself, reports the messages, and goes on when the tag is away.
open class NFCNDEFReaderSession: NFCReaderSession {
  private weak var receiver: (any NFCNDEFReaderSessionDelegate)?
  private let invalidateAfterFirstRead: Bool
  /// Whether the delegate gets messages. The first round shows it.
  private let isReadingMessages = Atomic(false)

  /// Creates a session, which starts with `begin()`.
  ///
  /// - Parameters:
  ///   - delegate: takes the callbacks; held weakly.
  ///   - queue: a serial queue for all callbacks; nil for one of the session's own.
  ///   - invalidateAfterFirstRead: whether the session ends after the first message, with code 204. It has no effect
  ///     on a session that reports tags.
  public init(delegate: any NFCNDEFReaderSessionDelegate, queue: DispatchQueue?, invalidateAfterFirstRead: Bool) {
    receiver = delegate
    self.invalidateAfterFirstRead = invalidateAfterFirstRead
    super.init(__queue: queue)
  }

  open override var delegate: AnyObject? { receiver }

  /// Makes all tags that were found invalid, and looks for tags again. A tag that is still there is found again.
  ///
  /// Has no effect before the session is active, after its end, and if the delegate gets messages (iOS 13).
  open func restartPolling() {
    guard !isReadingMessages.load(ordering: .relaxed) else { return }
    run.restartPolling(ReaderSessionOptions())
  }

  /// Connects to a tag that this session has found. Calls to a tag that is not connected fail with code 104,
  /// unless it is the only one that was found.
  ///
  /// - Parameters:
  ///   - tag: the tag. The connection to another tag ends.
  ///   - completionHandler: gets nil, or the error: 100 if the tag has gone, 103 if the session is over (iOS 13).
  @preconcurrency
  open func connect(to tag: any NFCNDEFTag, completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
    connect(tag, completionHandler)
  }

  /// Connects to a tag, as the form with a completion handler does.
  open func connect(to tag: any NFCNDEFTag) async throws {
    try await fromHandler { self.connect(to: tag, completionHandler: $0) }
  }

  override var options: Result<ReaderSessionOptions, NFCReaderError> {
    // Every NFC Forum type. MIFARE Classic is none, and no phone of Apple reads it.
    .success(
      ReaderSessionOptions(technologies: [TagType.type1, .type2, .type3, .type4A, .type4B, .type5].map(\.rawValue)))
  }

  override func didBecomeActive() { receiver?.readerSessionDidBecomeActive(self) }

  override func didDetect(_ tags: [ReaderTag]) {
    receiver?.readerSession(self, didDetect: tags.map { DetectedTag($0, in: self) })
  }

  override func didInvalidate(_ error: NFCReaderError) {
    receiver?.readerSession(self, didInvalidateWithError: error)
  }

  /// Reads one tag after the other, and reports the messages together. A tag without a message is not reported.
  func readMessages(_ tags: [any NFCNDEFTag]) {
    isReadingMessages.store(true, ordering: .relaxed)
    read(tags.compactMap { $0 as? DetectedTag }.map(\.tag)[...], [])
  }

  /// Called on the session's queue, as its recursion is.
  private func read(_ tags: ArraySlice<ReaderTag>, _ messages: [NFCNDEFMessage]) {
    guard let tag = tags.first else { return report(messages) }
    let state = OnQueue((session: self, tags: tags.dropFirst(), messages: messages))
    run.perform(.read, on: tag, needsConnection: false) { result in
      let (session, others, messages) = state.value
      let message = (try? result.get()).flatMap { NFCNDEFMessage(data: Data($0)) }
      session.read(others, messages + (message.map { [$0] } ?? []))
    } _: { tag in
      try await tag.readNDEF()
    }
  }

  private func report(_ messages: [NFCNDEFMessage]) {
    // If the session has ended during the reads, the delegate already knows, or will know before this returns.
    guard !messages.isEmpty, run.isReady else { return run.resume(self) }
    receiver?.readerSession(self, didDetectNDEFs: messages)
    if invalidateAfterFirstRead {
      run.invalidate(as: .readerSessionInvalidationErrorFirstNDEFTagRead)
    } else {
      run.resume(self)
    }
  }
}

extension NFCReaderSession {
  /// Connects to a tag of any kind. Returns whether the tag is of this session and still there.
  @discardableResult
  func connect(_ tag: Any, _ completion: @escaping Handler<>) -> Bool {
    if let tag = tag as? DetectedTag { return run.connect(tag.tag, completion) }
    run.queue.async { completion(NFCReaderError(.readerErrorInvalidParameter)) }
    return false
  }
}
