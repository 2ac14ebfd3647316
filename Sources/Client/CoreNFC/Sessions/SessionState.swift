/// What a session knows of itself. A pure value: an event goes in, and what follows comes out.
///
/// | Phase | Meaning | Can become |
/// |---|---|---|
/// | `created` | `begin()` was not called | `starting`, `ended` |
/// | `starting` | the daemon has not given the reader yet | `active`, `ending`, `ended` |
/// | `active` | the reader looks for tags | `ending`, `ended` |
/// | `ending` | the program has invalidated the session | `ended` |
/// | `ended` | `didInvalidateWithError` is the last callback | – |
struct SessionState<Tag: Hashable> {
  enum Phase: Sendable { case created, starting, active, ending, ended }

  /// What happens with tags that are found.
  enum Polling: Sendable {
    /// The next complete round is reported.
    case running
    /// A round was reported. The next one waits until the program restarts polling.
    case paused
    /// A restart was requested. What the daemon reports until it says so are tags of before.
    case restarting
  }

  /// Fails a call that waits.
  typealias Failing = @Sendable (NFCReaderError.Code) -> Void

  private(set) var phase = Phase.created
  private(set) var alertMessage = ""
  /// Whether a change of `alertMessage` waits to be sent.
  private var isMessageWaiting = false
  /// The code for an end that the session itself has requested.
  private(set) var ownEnd = NFCReaderError.Code.readerSessionInvalidationErrorUserCanceled

  private var polling = Polling.running
  /// The tags that the daemon says are on the reader, apart from those of before a restart.
  private var present: Set<Tag> = []
  /// Tags that were found and not yet reported to the program.
  private var round: [Tag] = []
  private var isRoundComplete = false
  /// The tags that were reported last, without hidden ones.
  private var reported: [Tag] = []
  private var connected: Tag?

  private var lastCall: UInt64 = 0
  private var calls: [UInt64: Failing] = [:]

  // MARK: The session

  /// Whether the session may start now. It can be started once.
  mutating func begin() -> Bool {
    guard phase == .created else { return false }
    phase = .starting
    return true
  }

  /// The session has the reader. Returns whether to report that.
  mutating func activate() -> Bool {
    guard phase == .starting else { return false }
    phase = .active
    return true
  }

  /// Whether the daemon is to be asked for the end. A session that was not begun ends without a callback.
  mutating func invalidate(_ code: NFCReaderError.Code = .readerSessionInvalidationErrorUserCanceled) -> Bool {
    switch phase {
    case .created: phase = .ended
    case .starting, .active:
      phase = .ending
      ownEnd = code
      return true
    case .ending, .ended: break
    }
    return false
  }

  /// The session is over. Returns the calls that wait.
  mutating func end() -> [Failing] {
    phase = .ended
    forgetTags()
    connected = nil
    defer { calls = [:] }
    return calls.sorted { $0.key < $1.key }.map(\.value)
  }

  /// Sets the text. Returns whether it is to be sent: not if an earlier change still waits, which sends this text.
  mutating func setMessage(_ text: String) -> Bool {
    alertMessage = text
    guard phase == .starting || phase == .active, !isMessageWaiting else { return false }
    isMessageWaiting = true
    return true
  }

  /// The text to send now.
  mutating func messageToSend() -> String {
    isMessageWaiting = false
    return alertMessage
  }

  // MARK: Tags

  /// Whether the daemon is to restart polling. All tags that were found become invalid.
  mutating func restartPolling() -> Bool {
    guard phase == .active else { return false }
    polling = .restarting
    forgetTags()
    connected = nil
    return true
  }

  /// The daemon has restarted polling. Several requests may lead to several restarts, and each of them makes the tags
  /// of the one before invalid.
  mutating func restarted() {
    forgetTags()
    connected = nil
    polling = .running
  }

  /// The daemon has found a tag.
  mutating func detect(_ tag: Tag) {
    guard polling != .restarting else { return }
    present.insert(tag)
    round.append(tag)
    isRoundComplete = false
  }

  /// A tag was taken away.
  mutating func remove(_ tag: Tag) {
    present.remove(tag)
    round.removeAll { $0 == tag }
  }

  /// All tags of a round were found. Returns those to report now.
  mutating func completeRound() -> [Tag] {
    isRoundComplete = true
    return takeRound()
  }

  /// The program has the tags of the last round, and waits for others. Returns those that were found meanwhile.
  mutating func resume() -> [Tag] {
    guard polling == .paused else { return [] }
    polling = .running
    return takeRound()
  }

  private mutating func takeRound() -> [Tag] {
    guard phase == .active, polling == .running, isRoundComplete, !round.isEmpty else { return [] }
    polling = .paused
    (reported, round) = (round, [])
    return reported
  }

  /// The program does not get these tags of the last round, because its kind of session has no type for them.
  mutating func hide(_ tags: [Tag]) { reported.removeAll { tags.contains($0) } }

  private mutating func forgetTags() {
    present = []
    round = []
    reported = []
  }

  func isAvailable(_ tag: Tag) -> Bool { phase == .active && present.contains(tag) }

  // MARK: Connection and calls

  var connectedTag: Tag? { connected.flatMap { isAvailable($0) ? $0 : nil } }

  /// Connects to a tag. Returns why that is not possible; nil if the tag is connected.
  mutating func connect(_ tag: Tag) -> NFCReaderError.Code? {
    if let code = unavailability(of: tag) { return code }
    connected = tag
    return nil
  }

  /// Admits a call. Returns its number, for `settle`, or why it is not possible.
  ///
  /// A program that was given one tag may call it without `connect`, as on iOS. The call connects the session to the tag.
  mutating func admit(
    _ tag: Tag, needsConnection: Bool, _ failing: @escaping Failing
  ) -> Result<UInt64, NFCReaderError> {
    if let code = unavailability(of: tag) { return .failure(NFCReaderError(code)) }
    if needsConnection, connected != tag {
      guard connectedTag == nil, reported == [tag] else {
        return .failure(NFCReaderError(.readerTransceiveErrorTagNotConnected))
      }
      connected = tag
    }
    lastCall += 1
    calls[lastCall] = failing
    return .success(lastCall)
  }

  /// A call has its result. Returns whether the program is to get it: not if the end of the session has failed it.
  mutating func settle(_ call: UInt64) -> Bool { calls.removeValue(forKey: call) != nil }

  private func unavailability(of tag: Tag) -> NFCReaderError.Code? {
    if phase != .active { return .readerTransceiveErrorSessionInvalidated }
    return present.contains(tag) ? nil : .readerTransceiveErrorTagConnectionLost
  }
}
