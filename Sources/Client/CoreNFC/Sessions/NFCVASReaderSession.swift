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

/// A pass of a wallet to ask for (iOS 13). The protocol is Apple's own, and no reader of this system has it.
open class NFCVASCommandConfiguration: NSObject, NSCopying {
  /// How a wallet is asked.
  public enum Mode: Int, Sendable {
    /// Only a URL is sent.
    case urlOnly = 0
    /// The pass is asked for.
    case normal = 1
  }

  /// How the wallet is asked.
  open var mode: Mode
  /// The type identifier of the pass, such as `pass.com.example.menu`.
  open var passTypeIdentifier: String
  /// A URL that the wallet gets, at most 64 characters; nil for none.
  open var url: URL?

  /// Makes a configuration.
  public required init(vasMode mode: Mode, passTypeIdentifier: String, url: URL?) {
    self.mode = mode
    self.passTypeIdentifier = passTypeIdentifier
    self.url = url
    super.init()
  }

  /// A copy of the same class.
  open func copy(with zone: NSZone? = nil) -> Any {
    type(of: self).init(vasMode: mode, passTypeIdentifier: passTypeIdentifier, url: url)
  }
}

/// The answer of a wallet (iOS 13). Sessions of this system have none.
open class NFCVASResponse: NSObject, NSCopying {
  /// The status word of the answer.
  public enum ErrorCode: Int, Sendable {
    /// The wallet has sent the data.
    case success = 0x9000
    /// The wallet has no such pass.
    case dataNotFound = 0x6A83
    /// The pass is not activated.
    case dataNotActivated = 0x6287
    /// The parameters are wrong.
    case wrongParameters = 0x6B00
    /// The length of the data is wrong.
    case wrongLCField = 0x6700
    /// The user has to act first.
    case userIntervention = 0x6984
    /// The data is wrong.
    case incorrectData = 0x6A80
    /// The wallet does not support this version of the protocol.
    case unsupportedApplicationVersion = 0x6340
  }

  /// The status word.
  open private(set) var status: ErrorCode
  /// The data of the pass.
  open private(set) var vasData: Data
  /// The token that identifies the wallet.
  open private(set) var mobileToken: Data

  init(status: ErrorCode, vasData: Data, mobileToken: Data) {
    self.status = status
    self.vasData = vasData
    self.mobileToken = mobileToken
    super.init()
  }

  /// The same object, since it cannot be changed.
  open func copy(with zone: NSZone? = nil) -> Any { self }
}
