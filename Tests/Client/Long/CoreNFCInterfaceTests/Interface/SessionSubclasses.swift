import CoreNFC

// Subclasses of every session, as in the tests of apps. Each overrides every member that is open.

final class FakeMessageSession: NFCNDEFReaderSession {
  private(set) var calls: [String] = []
  private var text = ""

  override init(
    delegate: any NFCNDEFReaderSessionDelegate, queue: DispatchQueue?, invalidateAfterFirstRead: Bool
  ) {
    super.init(delegate: delegate, queue: queue, invalidateAfterFirstRead: invalidateAfterFirstRead)
  }

  override class var readingAvailable: Bool { true }
  override var delegate: AnyObject? { super.delegate }
  override var sessionQueue: DispatchQueue { super.sessionQueue }
  override var isReady: Bool { calls.contains("begin") }
  override var alertMessage: String {
    get { text }
    set { text = newValue }
  }

  override func begin() { calls.append("begin") }
  override func invalidate() { calls.append("invalidate") }
  override func invalidate(errorMessage: String) { calls.append("invalidate \(errorMessage)") }
  override func restartPolling() { calls.append("restart") }
  override func connect(to tag: any NFCNDEFTag, completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
    calls.append("connect")
    completionHandler(nil)
  }
}

/// Inherits the initializers.
final class FakeTagSession: NFCTagReaderSession {
  private(set) var calls: [String] = []
  private var text = ""
  private var connected: NFCTag?

  override class var readingAvailable: Bool { true }
  override var delegate: AnyObject? { super.delegate }
  override var sessionQueue: DispatchQueue { super.sessionQueue }
  override var isReady: Bool { calls.contains("begin") }
  override var connectedTag: NFCTag? { connected }
  override var alertMessage: String {
    get { text }
    set { text = newValue }
  }

  override func begin() { calls.append("begin") }
  override func invalidate() { calls.append("invalidate") }
  override func invalidate(errorMessage: String) { calls.append("invalidate \(errorMessage)") }
  override func restartPolling() { calls.append("restart") }
  override func restartPolling(configuration: Configuration) {
    calls.append("restart \(configuration.pollingOption.rawValue)")
  }
  override func connect(to tag: NFCTag, completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
    connected = tag
    calls.append("connect")
    completionHandler(nil)
  }
}

final class FakePaymentSession: NFCPaymentTagReaderSession {
  private(set) var calls: [String] = []

  override class var readingAvailable: Bool { true }
  override var connectedTag: NFCTag? { nil }
  override func begin() { calls.append("begin") }
  override func invalidate() { calls.append("invalidate") }
  override func invalidate(errorMessage: String) { calls.append("invalidate \(errorMessage)") }
  override func restartPolling() { calls.append("restart") }
}

final class FakePassSession: NFCVASReaderSession {
  private(set) var calls: [String] = []
  private var text = ""

  override init(
    vasCommandConfigurations: [NFCVASCommandConfiguration], delegate: any NFCVASReaderSessionDelegate,
    queue: DispatchQueue?
  ) {
    super.init(vasCommandConfigurations: vasCommandConfigurations, delegate: delegate, queue: queue)
  }

  override class var readingAvailable: Bool { true }
  override var delegate: AnyObject? { super.delegate }
  override var sessionQueue: DispatchQueue { super.sessionQueue }
  override var isReady: Bool { calls.contains("begin") }
  override var alertMessage: String {
    get { text }
    set { text = newValue }
  }

  override func begin() { calls.append("begin") }
  override func invalidate() { calls.append("invalidate") }
  override func invalidate(errorMessage: String) { calls.append("invalidate \(errorMessage)") }
}
