public import Foundation

/// A tag that may hold an NDEF message (iOS 13).
///
/// The session has to be connected to the tag, else every call fails with code 104. If it is the only tag that was found,
/// and no tag is connected, a call connects to it. Handlers run on the session's queue, once for each call, and never
/// inside it.
///
/// Every call has an `async` form. If its task is cancelled, it throws `CancellationError` at once. The tag still
/// carries out the command, and the answer is dropped.
public protocol NFCNDEFTag: NSCopying, NSSecureCoding, NSObjectProtocol {
  /// Whether the tag is on the reader and its session is active.
  var isAvailable: Bool { get }

  /// Asks whether the tag can hold a message. The handler gets the status and the size of the longest message in bytes.
  @preconcurrency
  func queryNDEFStatus(completionHandler: @escaping @Sendable (NFCNDEFStatus, Int, (any Error)?) -> Void)
  /// Reads the message. Fails with code 403 if the tag is formatted and holds none.
  @preconcurrency
  func readNDEF(completionHandler: @escaping @Sendable (NFCNDEFMessage?, (any Error)?) -> Void)
  /// Replaces the message. Fails with code 400 if the tag is read-only, 402 if the message is too long, else 401.
  @preconcurrency
  func writeNDEF(_ ndefMessage: NFCNDEFMessage, completionHandler: @escaping @Sendable ((any Error)?) -> Void)
  /// Makes the tag read-only. This cannot be undone.
  @preconcurrency
  func writeLock(completionHandler: @escaping @Sendable ((any Error)?) -> Void)
}

extension NFCNDEFTag {
  /// Asks whether the tag can hold a message: the status, and the size of the longest message in bytes.
  public func queryNDEFStatus() async throws -> (NFCNDEFStatus, Int) {
    try await fromHandler { queryNDEFStatus(completionHandler: $0) }
  }

  /// Reads the message. Throws code 403 if the tag is formatted and holds none.
  public func readNDEF() async throws -> NFCNDEFMessage {
    let message: NFCNDEFMessage? = try await fromHandler { readNDEF(completionHandler: $0) }
    guard let message else { throw NFCReaderError(.ndefReaderSessionErrorZeroLengthMessage) }
    return message
  }

  /// Replaces the message. Throws code 400 if the tag is read-only, 402 if the message is too long, else 401.
  public func writeNDEF(_ ndefMessage: NFCNDEFMessage) async throws {
    try await fromHandler { writeNDEF(ndefMessage, completionHandler: $0) }
  }

  /// Makes the tag read-only. This cannot be undone.
  public func writeLock() async throws { try await fromHandler { writeLock(completionHandler: $0) } }
}
