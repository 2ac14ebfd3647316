public import Foundation
import Names
import TagrouteClient

/// A tag that a tag session has found (iOS 13).
public enum NFCTag {
  /// FeliCa (JIS X 6319-4).
  case feliCa(any NFCFeliCaTag)
  /// A card of ISO/IEC 14443-4 with a declared application (ISO/IEC 7816-4).
  case iso7816(any NFCISO7816Tag)
  /// NFC Forum Type 5 (ISO/IEC 15693).
  case iso15693(any NFCISO15693Tag)
  /// MIFARE Ultralight, NTAG; DESFire or Plus without a declared application.
  case miFare(any NFCMiFareTag)

  /// Whether the tag is on the reader and its session is active.
  public var isAvailable: Bool {
    switch self {
    case .feliCa(let tag): tag.isAvailable
    case .iso7816(let tag): tag.isAvailable
    case .iso15693(let tag): tag.isAvailable
    case .miFare(let tag): tag.isAvailable
    }
  }

  /// The tag, whatever its kind.
  var any: Any {
    switch self {
    case .feliCa(let tag): tag
    case .iso7816(let tag): tag
    case .iso15693(let tag): tag
    case .miFare(let tag): tag
    }
  }

  /// Nil if a tag session does not know this kind: Topaz, MIFARE Classic, and cards without a declared application
  /// other than DESFire and Plus.
  init?(_ tag: ReaderTag, in session: NFCTagReaderSession) {
    switch TagType(rawValue: tag.technology) {
    case .type2: self = .miFare(MiFareTag(tag, in: session))
    case .type3: self = .feliCa(FeliCaTag(tag, in: session))
    case .type4A, .type4B:
      if !tag.selectedApplication.isEmpty || session.polling.findsEveryCard {
        self = .iso7816(ISO7816Tag(tag, in: session))
      } else if tag.mifareFamily != .unknown {
        self = .miFare(MiFareTag(tag, in: session))
      } else {
        return nil
      }
    case .type5: self = .iso15693(ISO15693Tag(tag, in: session))
    case .type1, .mifareClassic, .peer, nil: return nil
    }
  }
}

// swift-format-ignore: NoLeadingUnderscores, AlwaysUseLowerCamelCase
/// The kind of a tag. `NFCTag` is the enum that programs use.
public enum __NFCTagType: UInt, Sendable {
  /// NFC Forum Type 5 (ISO/IEC 15693).
  case ISO15693 = 1
  /// FeliCa (JIS X 6319-4).
  case feliCa = 2
  /// ISO/IEC 14443-4 with an application of ISO/IEC 7816-4.
  case iso7816Compatible = 3
  /// MIFARE Ultralight, Plus and DESFire, and NTAG.
  case miFare = 4
}

// swift-format-ignore: NoLeadingUnderscores
/// What every tag of a tag session can do. `NFCTag` is the enum that programs use.
public protocol __NFCTag: NSCopying, NSSecureCoding, NSObjectProtocol {
  /// The kind of the tag.
  var type: __NFCTagType { get }
  /// The session that has found the tag; nil once it has gone.
  var session: (any NFCReaderSessionProtocol)? { get }
  /// Whether the tag is on the reader and its session is active.
  var isAvailable: Bool { get }

  /// The tag as one of ISO/IEC 15693; nil if it is another kind.
  func asNFCISO15693Tag() -> (any NFCISO15693Tag)?
  /// The tag as one of ISO/IEC 7816; nil if it is another kind.
  func asNFCISO7816Tag() -> (any NFCISO7816Tag)?
  /// The tag as a FeliCa card; nil if it is another kind.
  func asNFCFeliCaTag() -> (any NFCFeliCaTag)?
  /// The tag as a MIFARE tag; nil if it is another kind.
  func asNFCMiFareTag() -> (any NFCMiFareTag)?
}

// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
extension __NFCTag {
  public func asNFCISO15693Tag() -> (any NFCISO15693Tag)? { self as? any NFCISO15693Tag }

  public func asNFCISO7816Tag() -> (any NFCISO7816Tag)? { self as? any NFCISO7816Tag }

  public func asNFCFeliCaTag() -> (any NFCFeliCaTag)? { self as? any NFCFeliCaTag }

  public func asNFCMiFareTag() -> (any NFCMiFareTag)? { self as? any NFCMiFareTag }
}

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

// swift-format-ignore: AllPublicDeclarationsHaveDocumentation
/// The `async` forms. They return what a completion handler gets.
extension NFCNDEFTag {
  public func queryNDEFStatus() async throws -> (NFCNDEFStatus, Int) {
    try await fromHandler { queryNDEFStatus(completionHandler: $0) }
  }

  public func readNDEF() async throws -> NFCNDEFMessage {
    let message: NFCNDEFMessage? = try await fromHandler { readNDEF(completionHandler: $0) }
    guard let message else { throw NFCReaderError(.ndefReaderSessionErrorZeroLengthMessage) }
    return message
  }

  public func writeNDEF(_ ndefMessage: NFCNDEFMessage) async throws {
    try await fromHandler { writeNDEF(ndefMessage, completionHandler: $0) }
  }

  public func writeLock() async throws { try await fromHandler { writeLock(completionHandler: $0) } }
}
