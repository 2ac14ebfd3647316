public import Dispatch
import EventLoop
public import Foundation
import Names
import TagrouteClient

/// Takes the callbacks of a tag session (iOS 13).
public protocol NFCTagReaderSessionDelegate: NSObjectProtocol {
  /// The session has the reader.
  func tagReaderSessionDidBecomeActive(_ session: NFCTagReaderSession)
  /// The session is over. This is its last callback, and comes exactly once.
  func tagReaderSession(_ session: NFCTagReaderSession, didInvalidateWithError error: any Error)
  /// The tags that were found together. The session looks for others after `restartPolling()`.
  func tagReaderSession(_ session: NFCTagReaderSession, didDetect tags: [NFCTag])
}

/// A session that looks for tags of given kinds, to send them commands (iOS 13).
open class NFCTagReaderSession: NFCReaderSession {
  /// The kinds of tags to look for.
  public struct PollingOption: OptionSet, Sendable {
    /// The bits of the options.
    public let rawValue: Int

    /// - Parameter rawValue: the bits of the options.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// ISO 7816 cards, and MIFARE Ultralight, Plus and DESFire (ISO/IEC 14443 A and B).
    public static let iso14443 = PollingOption(rawValue: 1)
    /// NFC Forum Type 5 (ISO/IEC 15693).
    public static let iso15693 = PollingOption(rawValue: 2)
    /// FeliCa (JIS X 6319-4).
    public static let iso18092 = PollingOption(rawValue: 4)
    /// Cards of ISO/IEC 14443-4, of which no application is selected, such as passports that begin with PACE (iOS 16).
    public static let pace = PollingOption(rawValue: 8)
  }

  /// What to look for, without an Info.plist (iOS 26.4).
  public struct Configuration: Sendable {
    /// The kinds of tags.
    public var pollingOption: PollingOption
    /// The applications of ISO 7816 cards, hexadecimal, 5 to 16 bytes each, in the order in which they are tried.
    public var iso7816SelectIdentifiers: [String]
    /// The systems of FeliCa cards, four hexadecimal digits each, without a byte FF.
    public var feliCaSystemCodes: [String]

    /// Makes a configuration.
    public init(
      pollingOption: PollingOption, iso7816SelectIdentifiers: [String] = [], feliCaSystemCodes: [String] = []
    ) {
      self.pollingOption = pollingOption
      self.iso7816SelectIdentifiers = iso7816SelectIdentifiers
      self.feliCaSystemCodes = feliCaSystemCodes
    }
  }

  private weak var receiver: (any NFCTagReaderSessionDelegate)?
  let polling: TagPolling
  /// The connected tag and those that were reported last. A tag may keep what a command has selected, so the program
  /// gets the same object again.
  private let known = Locked(OnQueue<[NFCTag]>([]))

  /// Creates a session for the applications and systems that `NFCDeclarations.current` declares. Fails if
  /// `pollingOption` is empty.
  ///
  /// - Parameters:
  ///   - pollingOption: the kinds of tags to look for.
  ///   - delegate: takes the callbacks; held weakly.
  ///   - queue: a serial queue for all callbacks; nil for one of the session's own.
  public convenience init?(
    pollingOption: PollingOption, delegate: any NFCTagReaderSessionDelegate, queue: DispatchQueue? = nil
  ) {
    guard !pollingOption.isEmpty else { return nil }
    self.init(__polling: .declared(pollingOption), delegate: delegate, queue: queue)
  }

  /// Creates a session for the applications and systems of `configuration` (iOS 26.4).
  ///
  /// - Parameters:
  ///   - configuration: what to look for.
  ///   - delegate: takes the callbacks; held weakly.
  ///   - queue: a serial queue for all callbacks; nil for one of the session's own.
  public convenience init(
    configuration: Configuration, delegate: any NFCTagReaderSessionDelegate, queue: DispatchQueue? = nil
  ) {
    self.init(__polling: .configured(configuration), delegate: delegate, queue: queue)
  }

  /// Where a session knows from what to look for. For subclasses, which inherit the other initializers with this one.
  public enum PollingSource: Sendable {
    /// The lists of `NFCDeclarations.current`.
    case declared(PollingOption)
    /// The lists of a configuration.
    case configured(Configuration)
  }

  /// The initializer that the others call. Programs do not.
  public init(__polling polling: PollingSource, delegate: any NFCTagReaderSessionDelegate, queue: DispatchQueue?) {
    self.polling = TagPolling(polling)
    receiver = delegate
    super.init(__queue: queue)
  }

  open override var delegate: AnyObject? { receiver }

  /// The tag that is connected and still there; nil if there is none.
  open var connectedTag: NFCTag? {
    let connected = run.connectedTag
    return known.withLock { known in known.value.first { ($0.any as? DetectedTag)?.tag == connected } }
  }

  /// Makes all tags that were found invalid, and looks for tags again. A tag that is still there is found again.
  ///
  /// Has no effect before the session is active, and after its end.
  open func restartPolling() { run.restartPolling(ReaderSessionOptions()) }

  /// Restarts polling with other lists, until the next restart (iOS 26.4).
  ///
  /// - Parameter configuration: what to look for. If the session has not declared all of it, it looks for everything
  ///   that it has declared.
  open func restartPolling(configuration: Configuration) {
    run.restartPolling((try? TagPolling(.configured(configuration)).options()) ?? ReaderSessionOptions())
  }

  /// Connects to a tag that this session has found. Calls to a tag that is not connected fail with code 104,
  /// unless it is the only one that was found.
  ///
  /// - Parameters:
  ///   - tag: the tag. The connection to another tag ends.
  ///   - completionHandler: gets nil, or the error: 100 if the tag has gone, 103 if the session is over.
  @preconcurrency
  open func connect(to tag: NFCTag, completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
    let tag = OnQueue(tag)
    if connect(tag.value.any, completionHandler) { remember([tag.value]) }
  }

  /// Connects to a tag, as the form with a completion handler does.
  open func connect(to tag: NFCTag) async throws {
    try await fromHandler { self.connect(to: tag, completionHandler: $0) }
  }

  private func remember(_ tags: [NFCTag]) {
    let tags = OnQueue(tags + [connectedTag].compactMap(\.self))
    known.withLock { $0 = tags }
  }

  override var options: Result<ReaderSessionOptions, NFCReaderError> {
    Result { () throws(NFCReaderError) in try polling.options() }
  }

  override func didBecomeActive() { receiver?.tagReaderSessionDidBecomeActive(self) }

  override func didDetect(_ tags: [ReaderTag]) {
    let found = tags.map { (tag: $0, known: NFCTag($0, in: self)) }
    run.hide(found.filter { $0.known == nil }.map(\.tag))
    let tags = found.compactMap(\.known)
    // What is on the reader is of no kind that a tag session knows. The next tag may be.
    guard !tags.isEmpty else { return run.resume(self) }
    remember(tags)
    receiver?.tagReaderSession(self, didDetect: tags)
  }

  override func didInvalidate(_ error: NFCReaderError) {
    receiver?.tagReaderSession(self, didInvalidateWithError: error)
  }
}

/// A session for payment cards (iOS 26). This system refuses them: `begin()` ends with code 1.
open class NFCPaymentTagReaderSession: NFCTagReaderSession {
  /// - Parameters:
  ///   - delegate: takes the callbacks; held weakly.
  ///   - queue: a serial queue for all callbacks; nil for one of the session's own.
  public convenience init(delegate: any NFCTagReaderSessionDelegate, queue: DispatchQueue?) {
    self.init(__polling: .declared([]), delegate: delegate, queue: queue)
  }

  /// False.
  open override class var readingAvailable: Bool { false }

  override var options: Result<ReaderSessionOptions, NFCReaderError> {
    .failure(NFCReaderError(.readerErrorUnsupportedFeature))
  }
}

/// What a tag session asks the daemon for.
struct TagPolling: Sendable {
  private let kinds: NFCTagReaderSession.PollingOption
  /// The declared applications, hexadecimal; nil if the program declares none.
  let identifiers: [String]?
  /// The declared systems.
  let systems: [UInt16]

  /// An empty list of a configuration is none.
  init(_ source: NFCTagReaderSession.PollingSource) {
    switch source {
    case .declared(let kinds):
      let declarations = NFCDeclarations.current
      self.kinds = kinds
      identifiers = declarations.iso7816SelectIdentifiers
      systems = NFCDeclarations.systems(declarations.feliCaSystemCodes ?? [])
    case .configured(let configuration):
      let list = configuration.iso7816SelectIdentifiers
      kinds = configuration.pollingOption
      identifiers = list.isEmpty ? nil : list
      systems = NFCDeclarations.systems(configuration.feliCaSystemCodes)
    }
  }

  /// The declared applications; nil if the program declares none.
  var applications: [[UInt8]]? { identifiers.map(NFCDeclarations.applications) }

  /// Whether a card of ISO/IEC 14443-4 is an ISO 7816 card without a declared application.
  var findsEveryCard: Bool { kinds.contains(.pace) }

  /// The options for the daemon.
  ///
  /// - Throws: 1 if there is no kind of tag; 2 if the kind needs a list and the list has no valid entry.
  func options() throws(NFCReaderError) -> ReaderSessionOptions {
    var options = ReaderSessionOptions()
    if kinds.contains(.iso14443) {
      options.technologies += [TagType.type2, .type4A, .type4B].map(\.rawValue)
      if let applications {
        options.applicationIdentifiers = applications
        guard !options.applicationIdentifiers.isEmpty else { throw NFCReaderError(.readerErrorSecurityViolation) }
        // DESFire and Plus are found without an application, as `miFare`.
        options.reportsUndeclaredCards = true
      }
    }
    if kinds.contains(.pace) {
      options.technologies += [TagType.type4A, .type4B].map(\.rawValue).filter { !options.technologies.contains($0) }
      options.applicationIdentifiers = applications ?? []
      options.reportsUndeclaredCards = true
      options.selectsApplication = false
    }
    if kinds.contains(.iso18092) {
      options.technologies.append(TagType.type3.rawValue)
      options.systemCodes = systems
      guard !options.systemCodes.isEmpty else { throw NFCReaderError(.readerErrorSecurityViolation) }
    }
    // The daemon refuses this kind alone if the reader cannot find it. Beside other kinds, the reader finds the others.
    if kinds.contains(.iso15693) { options.technologies.append(TagType.type5.rawValue) }
    guard !options.technologies.isEmpty else { throw NFCReaderError(.readerErrorUnsupportedFeature) }
    return options
  }
}
