import Bus
import EventLoop

/// Follows one fact that a peer on a bus knows, while the peer's name has an owner. The watch never starts the peer.
///
/// Reports contain the unique name of their sender, because the name may have another owner a moment later.
actor PeerWatch {
  enum Event: Sendable, Hashable {
    /// Nil if the name has no owner now.
    case owner(String?)
    /// Unknown if the owner cannot tell.
    case said(Fact, by: String)
  }

  /// How often to ask an owner that does not reply as it should: it may own its name before it is ready. After that,
  /// only its signals are used.
  private static let attempts = 8

  private let question: PeerQuestion
  private let connection: Connection
  private let timeout: Duration
  private let report: @Sendable (Event) -> Void
  private var owner: String?
  /// Counts the owner's signals. A reply is ignored if a signal came while it was on its way.
  private var signals = 0
  private var tasks: [Task<Void, Never>] = []
  private var asking: Task<Void, Never>?

  nonisolated var unownedExecutor: UnownedSerialExecutor { connection.loop.asUnownedSerialExecutor() }

  /// `timeout` is for a reply of the peer. `report` gets events, on the connection's loop.
  init(
    _ question: PeerQuestion, on connection: Connection, timeout: Duration, report: @escaping @Sendable (Event) -> Void
  ) {
    self.question = question
    self.connection = connection
    self.timeout = timeout
    self.report = report
  }

  /// Throws if the bus accepts no match rule, or the connection is closed.
  func start() async throws(BusError) {
    let signals = try await connection.signals(question.rule)
    let owners = try await connection.owners(of: question.name)
    tasks = [
      Task { for await signal in signals { receive(signal) } },
      Task { for await owner in owners { receive(owner: owner) } },
    ]
  }

  func stop() {
    asking?.cancel()
    for task in tasks { task.cancel() }
    tasks = []
  }

  private func receive(owner: String?) {
    guard owner != self.owner || owner == nil else { return }
    asking?.cancel()
    self.owner = owner
    report(.owner(owner))
    if let owner { ask(owner) }
  }

  private func receive(_ signal: ReceivedSignal) {
    switch question.changed(signal) {
    case .fact(let fact):
      signals += 1
      report(.said(fact, by: signal.sender))
      // Signals were lost. They may have been another owner's, so this may not be the newest report.
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
    var pause = Backoff(from: .milliseconds(250), to: .seconds(32))
    for _ in 0..<Self.attempts {
      let before = signals
      let fact = await answer(of: owner)
      guard !Task.isCancelled, self.owner == owner, signals == before else { return }
      report(.said(fact ?? .unknown, by: owner))
      guard fact == nil else { return }
      do { try await Task.sleep(for: pause.next()) } catch { return }
    }
  }

  /// Nil if the owner did not reply.
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

/// A question to a peer on a bus, and the signal with which the peer reports changes.
struct PeerQuestion: Sendable {
  enum Change: Sendable {
    case fact(Fact)
    /// The fact has changed, and has to be asked for.
    case ask
    /// The signal is unrelated.
    case nothing
  }

  let name: String
  /// The most likely first.
  let paths: [ObjectPath]
  let interface: String
  let member: String
  let arguments: [Value]
  let rule: MatchRule
  let changed: @Sendable (ReceivedSignal) -> Change
  /// Unknown if the reply has no meaning.
  let answered: @Sendable ([Value]) -> Fact

  /// A property with changes in PropertiesChanged ("org.freedesktop.DBus.Properties" in the D-Bus specification).
  static func property(
    _ property: String, of name: String, at path: ObjectPath, meaning: @escaping @Sendable (Value?) -> Fact
  ) -> PeerQuestion {
    let properties = "org.freedesktop.DBus.Properties"
    return PeerQuestion(
      name: name, paths: [path], interface: properties, member: "Get", arguments: [.string(name), .string(property)],
      rule: MatchRule(sender: name, path: path, interface: properties, member: "PropertiesChanged", arg0: name),
      changed: { signal in
        if let value = signal.arguments.dropFirst().first?.asDictionary?[property] { return .fact(meaning(value)) }
        let isInvalid = signal.arguments.dropFirst(2).first?.asStrings?.contains(property) == true
        return isInvalid ? .ask : .nothing
      },
      answered: { meaning($0.first?.unwrapped) })
  }
}
