public import Bus
import EventLoop

/// logind as far as we know it, on a bus of a test's own: sessions, their locks, sleep, and a restart that forgets
/// `LockedHint` without a signal, as the real one does.
public actor LogindStandIn {
  /// A session, as its properties tell it.
  public struct Session: Sendable, Hashable {
    /// logind's name for it.
    public var id: String
    /// Whose it is.
    public var uid: UInt32
    /// Its seat, empty for none.
    public var seat = "seat0"
    /// `wayland`, `x11`, `tty`, ….
    public var type = "wayland"
    /// `user`, `greeter`, ….
    public var sessionClass = "user"
    /// It comes from another machine.
    public var isRemote = false
    /// It is in the foreground.
    public var isActive = true
    /// Its screen is locked.
    public var isLocked = false
    /// `active`, `online`, `closing`.
    public var state = "active"

    /// An active, graphical, unlocked session of class user on seat0.
    public init(id: String, uid: UInt32) {
      self.id = id
      self.uid = uid
    }
  }

  private static let managerPath: ObjectPath = "/org/freedesktop/login1"
  private static let managerInterface = "org.freedesktop.login1.Manager"
  private static let sessionInterface = "org.freedesktop.login1.Session"

  private let address: BusAddress
  let loop = EventLoop(label: "logind")
  private var connection: Connection?
  private var sessions: [String: Session] = [:]
  private(set) var isSleeping = false
  private var overtaking: Bool?
  private var restless: String?
  private var failures = 0
  var heldLocks: [Int: (lock: Lock, end: FileDescriptor, watch: DescriptorWatch)] = [:]
  var lastLock = 0
  var lockWaiters: [CheckedContinuation<Void, Never>] = []
  /// Whether `Inhibit` is refused.
  public private(set) var refusesLocks = false
  /// How often the sessions were asked for.
  public private(set) var listings = 0

  /// The loop of the stand-in's own connection.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  private init(_ address: BusAddress) { self.address = address }

  /// Starts a logind on a bus.
  ///
  /// - Parameters:
  ///   - address: the bus.
  ///   - sessions: those that are there from the beginning.
  /// - Returns: the stand-in, which owns the name.
  /// - Throws: `BusError` where the bus cannot be reached.
  public static func start(on address: BusAddress, sessions: [Session] = []) async throws -> LogindStandIn {
    let logind = LogindStandIn(address)
    try await logind.begin(sessions)
    return logind
  }

  private func begin(_ sessions: [Session]) async throws {
    for session in sessions { self.sessions[session.id] = session }
    let connection = try await Connection.open(address, on: loop)
    self.connection = connection
    try await connection.export([manager()], at: Self.managerPath)
    for id in self.sessions.keys { try await connection.export([interface(of: id)], at: path(of: id)) }
    try await connection.standIn(for: "org.freedesktop.login1")
  }

  /// Leaves the bus, as a crash would.
  public func stop() async {
    await connection?.crash()
    connection = nil
  }

  /// Leaves the bus and comes back, with every `LockedHint` forgotten and no signal for it.
  ///
  /// - Throws: `BusError` where the bus cannot be reached.
  public func restart() async throws {
    await stop()
    for id in sessions.keys { sessions[id]?.isLocked = false }
    try await begin([])
  }

  /// Answers the next questions for its sessions with an error.
  ///
  /// - Parameter count: how many.
  public func fail(listings count: Int) { failures = count }

  /// A user logs in.
  ///
  /// - Parameter session: the new session.
  /// - Throws: `BusError` where the bus cannot be reached.
  public func add(_ session: Session) async throws {
    sessions[session.id] = session
    try await connection?.export([interface(of: session.id)], at: path(of: session.id))
    try await emit("SessionNew", session.id)
  }

  /// A session ends.
  ///
  /// - Parameter id: the session's id.
  /// - Throws: `BusError` where the bus cannot be reached.
  public func remove(_ id: String) async throws {
    sessions[id] = nil
    try await connection?.unexport(path(of: id))
    try await emit("SessionRemoved", id)
  }

  /// Changes a session, and tells of it as logind does: of what changed, and never of `State`.
  ///
  /// - Parameters:
  ///   - id: the session's id.
  ///   - change: what happens to it.
  /// - Throws: `BusError` where the id is no session's.
  public func update(_ id: String, _ change: @Sendable (inout Session) -> Void) async throws {
    guard let before = sessions[id] else { throw BusError.invalidValue("there is no session \(id)") }
    var after = before
    change(&after)
    sessions[id] = after
    var names: [String] = []
    if before.isActive != after.isActive { names.append("Active") }
    if before.isLocked != after.isLocked { names.append("LockedHint") }
    if before.type != after.type { names.append("Type") }
    guard !names.isEmpty else { return }
    try await connection?.propertiesChanged(names, of: Self.sessionInterface, at: path(of: id))
  }

  /// The machine goes to sleep, or wakes up.
  ///
  /// - Parameter sleeping: whether it goes to sleep.
  /// - Throws: `BusError` where the bus cannot be reached.
  public func prepareForSleep(_ sleeping: Bool) async throws {
    isSleeping = sleeping
    try await connection?.emit(
      path: Self.managerPath, interface: Self.managerInterface, member: "PrepareForSleep", [.boolean(sleeping)])
  }

  /// The next who reads whether the machine sleeps is answered as it was before this change, after it has heard of it.
  public func overtakeNextReadingOfSleep(with sleeping: Bool) { overtaking = sleeping }

  /// From here on each reading of a session is overtaken by a change of its lock, which is announced before the reply.
  ///
  /// - Parameter id: the session's id; nil to stop that.
  public func changeDuringReadings(of id: String?) { restless = id }

  /// Whether the screen of a session is locked now.
  public func isLocked(_ id: String) -> Bool { sessions[id]?.isLocked == true }

  private func readID(_ id: String) async -> String {
    if id == restless { try? await update(id) { $0.isLocked.toggle() } }
    return id
  }

  private func readSleeping() async -> Bool {
    let before = isSleeping
    if let overtaking {
      self.overtaking = nil
      try? await prepareForSleep(overtaking)
    }
    return before
  }

  private func emit(_ member: String, _ id: String) async throws {
    try await connection?.emit(
      path: Self.managerPath, interface: Self.managerInterface, member: member,
      [.string(id), .objectPath(path(of: id))])
  }

  /// As logind escapes: what is not a letter or a digit, and a leading digit, becomes `_` and two hexadecimal digits.
  private nonisolated func path(of id: String) throws -> ObjectPath {
    var name = ""
    for byte in id.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"):
        name.unicodeScalars.append(Unicode.Scalar(byte))
      case UInt8(ascii: "0")...UInt8(ascii: "9") where !name.isEmpty:
        name.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        let hexadecimal = String(byte, radix: 16)
        name += "_" + (hexadecimal.count == 1 ? "0" : "") + hexadecimal
      }
    }
    return try ObjectPath("/org/freedesktop/login1/session/\(name)")
  }

  private func manager() -> ExportedInterface {
    ExportedInterface(
      Self.managerInterface,
      methods: [
        ExportedMethod("ListSessions", in: [], out: [Argument("sessions", "a(susso)")]) { [weak self] _ in
          [.array(element: "(susso)", try await self?.list() ?? [])]
        },
        ExportedMethod(
          "Inhibit",
          in: [Argument("what", "s"), Argument("who", "s"), Argument("why", "s"), Argument("mode", "s")],
          out: [Argument("pipe_fd", "h")]
        ) { [weak self] call in
          [.unixFD(try await self?.inhibit(call) ?? FileDescriptor(owning: -1))]
        },
      ],
      properties: [
        ExportedProperty("PreparingForSleep", "b", emits: .none) { [weak self] in
          .boolean(await self?.readSleeping() ?? false)
        }
      ],
      signals: [
        ExportedSignal("SessionNew", [Argument("id", "s"), Argument("path", "o")]),
        ExportedSignal("SessionRemoved", [Argument("id", "s"), Argument("path", "o")]),
        ExportedSignal("PrepareForSleep", [Argument("start", "b")]),
      ])
  }

  private func list() throws -> [Value] {
    listings += 1
    if failures > 0 {
      failures -= 1
      throw BusError.failed("not now")
    }
    return try sessions.values.sorted { $0.id < $1.id }.map { session in
      .structure([
        .string(session.id), .uint32(session.uid), .string("user"), .string(session.seat),
        .objectPath(try path(of: session.id)),
      ])
    }
  }

  private func interface(of id: String) -> ExportedInterface {
    func property(
      _ name: String, _ signature: Signature, _ read: @escaping @Sendable (Session) -> Value
    ) -> ExportedProperty {
      ExportedProperty(name, signature, emits: .changed) { [weak self] in
        read(await self?.sessions[id] ?? Session(id: id, uid: .max))
      }
    }
    return ExportedInterface(
      Self.sessionInterface,
      properties: [
        ExportedProperty("Id", "s", emits: .none) { [weak self] in .string(await self?.readID(id) ?? id) },
        property("User", "(uo)") { .structure([.uint32($0.uid), .objectPath("/org/freedesktop/login1/user/self")]) },
        property("Seat", "(so)") { .structure([.string($0.seat), .objectPath("/org/freedesktop/login1/seat/self")]) },
        property("Type", "s") { .string($0.type) },
        property("Class", "s") { .string($0.sessionClass) },
        property("Remote", "b") { .boolean($0.isRemote) },
        property("Active", "b") { .boolean($0.isActive) },
        property("State", "s") { .string($0.state) },
        property("LockedHint", "b") { .boolean($0.isLocked) },
      ])
  }
}
