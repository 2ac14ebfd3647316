package import Bus
import EventLoop

/// A stand-in for polkit on a private bus. It allows the actions that the test chooses, to any subject that is given by
/// its unique bus name. It denies all other requests.
package actor PolkitStandIn {
  /// One call of `CheckAuthorization`.
  package struct Question: Sendable, Hashable {
    /// The bus name of the subject.
    package let subject: String
    package let action: String
  }

  private let loop = EventLoop(label: "polkit")
  private var connection: Connection?
  private var allowed: Set<String>
  private var isSilent = false
  private var waiting: [CheckedContinuation<Void, Never>] = []
  /// All questions so far, in order.
  package private(set) var questions: [Question] = []
  /// The questions as they arrive; for one consumer.
  package nonisolated let asked: AsyncStream<Question>
  private let continuation: AsyncStream<Question>.Continuation

  package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  private init(_ allowed: Set<String>) {
    self.allowed = allowed
    (asked, continuation) = AsyncStream.makeStream()
  }

  /// Starts the stand-in, which owns its name when this returns. Everyone may do these actions.
  package static func start(on address: BusAddress, allowing actions: Set<String>) async throws -> PolkitStandIn {
    let polkit = PolkitStandIn(actions)
    try await polkit.begin(address)
    atEndOfTest { await polkit.stop() }
    return polkit
  }

  private func begin(_ address: BusAddress) async throws {
    let connection = try await Connection.open(address, on: loop)
    self.connection = connection
    let input = ["(sa{sv})", "s", "a{ss}", "u", "s"].enumerated().map { Argument("a\($0.offset)", $0.element) }
    let check = ExportedMethod("CheckAuthorization", in: input, out: [Argument("result", "(bba{ss})")]) {
      [weak self] _, call in
      [await self?.answer(call) ?? .boolean(false)]
    }
    let enumerate = ExportedMethod(
      "EnumerateActions", in: [Argument("locale", "s")], out: [Argument("actions", "a(ssssssuuua{ss})")]
    ) { [weak self] _, _ in [await self?.actions() ?? .strings([])] }
    try await connection.export(
      [ExportedInterface("org.freedesktop.PolicyKit1.Authority", methods: [check, enumerate])],
      at: "/org/freedesktop/PolicyKit1/Authority")
    try await connection.standIn(for: "org.freedesktop.PolicyKit1")
  }

  /// The stand-in knows only the actions that it allows.
  private func actions() -> Value {
    .array(
      element: "(ssssssuuua{ss})",
      allowed.sorted().map { action in
        .structure(
          [.string(action)] + [Value](repeating: .string(""), count: 5) + [Value](repeating: .uint32(0), count: 3)
            + [.dictionary(key: "s", value: "s", [])])
      })
  }

  private func answer(_ call: IncomingCall) async -> Value {
    let subject = call.arguments[0].asStructure
    let name = subject?.last?.asDictionary?["name"]?.asString ?? ""
    let action = call.arguments[1].asString ?? ""
    questions.append(Question(subject: name, action: action))
    continuation.yield(Question(subject: name, action: action))
    if isSilent { await withCheckedContinuation { waiting.append($0) } }
    let isAllowed = allowed.contains(action) && subject?.first?.asString == "system-bus-name" && name.hasPrefix(":")
    return .structure([.boolean(isAllowed), .boolean(false), .dictionary(key: "s", value: "s", [])])
  }

  /// Allows only these actions from now on.
  package func allow(_ actions: Set<String>) { allowed = actions }

  /// Stops replying; or replies to the pending and all further questions.
  package func fallSilent(_ isSilent: Bool = true) {
    self.isSilent = isSilent
    guard !isSilent else { return }
    for continuation in waiting { continuation.resume() }
    waiting = []
  }

  /// Leaves the bus, as a crash would.
  package func stop() async {
    fallSilent(false)
    await connection?.crash()
    connection = nil
  }
}
