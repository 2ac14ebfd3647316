import Bus
import EventLoop
import ScanGate

/// Follows one thing that a peer on a bus knows, as long as somebody owns the peer's name. The peer is never started for it.
///
/// What is heard is told with the unique name of who said it: the name may have another owner a moment later.
actor PeerWatch {
  /// What is heard of a peer.
  enum Event: Sendable, Hashable {
    /// Who owns the name now; nil where nobody does.
    case owner(String?)
    /// What its owner said, or with unknown that the owner cannot tell.
    case said(Fact, by: String)
  }

  /// How often one owner is asked that does not answer as it should: it may have taken its name before it was ready. After
  /// that its signals alone count.
  private static let attempts = 8
  private static let firstPause = Duration.milliseconds(250)

  private let question: PeerQuestion
  private let connection: Connection
  private let timeout: Duration
  private let tell: @Sendable (Event) -> Void
  private var owner: String?
  /// Counts what the owner said unasked: an answer that it overtook is of no worth.
  private var signals = 0
  private var tasks: [Task<Void, Never>] = []
  private var asking: Task<Void, Never>?

  nonisolated var unownedExecutor: UnownedSerialExecutor { connection.loop.asUnownedSerialExecutor() }

  /// - Parameters:
  ///   - question: what is followed.
  ///   - connection: to the bus.
  ///   - timeout: how long the peer may take to answer.
  ///   - tell: called on the connection's loop with what is heard.
  init(
    _ question: PeerQuestion, on connection: Connection, timeout: Duration, tell: @escaping @Sendable (Event) -> Void
  ) {
    self.question = question
    self.connection = connection
    self.timeout = timeout
    self.tell = tell
  }

  /// Begins to follow.
  ///
  /// - Throws: `BusError` where the bus takes no match, or the connection is closed.
  func start() async throws(BusError) {
    let signals = try await connection.signals(question.rule)
    let owners = try await connection.owners(of: question.name)
    tasks = [
      Task { for await signal in signals { receive(signal) } },
      Task { for await owner in owners { follow(owner) } },
    ]
  }

  /// Ends following.
  func stop() {
    asking?.cancel()
    for task in tasks { task.cancel() }
    tasks = []
  }

  private func follow(_ owner: String?) {
    guard owner != self.owner || owner == nil else { return }
    asking?.cancel()
    self.owner = owner
    tell(.owner(owner))
    if let owner { ask(owner) }
  }

  private func receive(_ signal: ReceivedSignal) {
    switch question.changed(signal) {
    case .fact(let fact):
      signals += 1
      tell(.said(fact, by: signal.sender))
      // What was lost between may be of another owner, whose last word this is not.
      if signal.missed > 0 { askAgain() }
    case .ask: askAgain()
    case .nothing: if signal.missed > 0 { askAgain() }
    }
  }

  private func askAgain() {
    guard let owner else { return }
    ask(owner)
  }

  private func ask(_ owner: String) {
    asking?.cancel()
    asking = Task { await converse(with: owner) }
  }

  private func converse(with owner: String) async {
    var pause = Self.firstPause
    for _ in 0..<Self.attempts {
      let before = signals
      let fact = await answer(of: owner)
      guard !Task.isCancelled, self.owner == owner, signals == before else { return }
      tell(.said(fact ?? .unknown, by: owner))
      guard fact == nil else { return }
      do { try await Task.sleep(for: pause) } catch { return }
      pause *= 2
    }
  }

  /// nil where it did not answer.
  private func answer(of owner: String) async -> Fact? {
    for path in question.paths {
      do throws(BusError) {
        return question.answered(
          try await connection.call(
            owner, path, question.interface, question.member, question.arguments, timeout: timeout, autoStart: false))
      } catch {
        guard Self.isElsewhere(error) else { return nil }
      }
    }
    return nil
  }

  private static func isElsewhere(_ error: BusError) -> Bool {
    [BusError.Name.unknownObject, BusError.Name.unknownInterface, BusError.Name.unknownMethod].contains(error.name)
  }
}
