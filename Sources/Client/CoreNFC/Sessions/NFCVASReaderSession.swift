public import Dispatch
public import Foundation
import TagrouteClient

/// Takes the callbacks of a session for value added services (iOS 13).
public protocol NFCVASReaderSessionDelegate: NSObjectProtocol {
  /// The session is over. This is its last callback, and comes exactly once.
  func readerSession(_ session: NFCVASReaderSession, didInvalidateWithError error: any Error)
  /// The answers of a wallet. Never called on this system.
  func readerSession(_ session: NFCVASReaderSession, didReceive responses: [NFCVASResponse])
  /// The session has the reader. Optional.
  func readerSessionDidBecomeActive(_ session: NFCVASReaderSession)
}

extension NFCVASReaderSessionDelegate {
  /// Does nothing.
  public func readerSessionDidBecomeActive(_ session: NFCVASReaderSession) {}
}

/// A session for value added services of wallets (iOS 13). The protocol is Apple's own, so `readingAvailable` is false
/// and `begin()` ends with code 1.
open class NFCVASReaderSession: NFCReaderSession {
  private weak var receiver: (any NFCVASReaderSessionDelegate)?

  /// - Parameters:
  ///   - vasCommandConfigurations: the passes to ask for.
  ///   - delegate: takes the callbacks; held weakly.
  ///   - queue: a serial queue for all callbacks; nil for one of the session's own.
  public init(
    vasCommandConfigurations: [NFCVASCommandConfiguration], delegate: any NFCVASReaderSessionDelegate,
    queue: DispatchQueue?
  ) {
    receiver = delegate
    super.init(__queue: queue)
  }

  open override var delegate: AnyObject? { receiver }

  /// False.
  open override class var readingAvailable: Bool { false }

  override func didInvalidate(_ error: NFCReaderError) {
    receiver?.readerSession(self, didInvalidateWithError: error)
  }
}
