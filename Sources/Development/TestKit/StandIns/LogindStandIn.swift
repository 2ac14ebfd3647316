package import Bus
import CShims
import EventLoop
import Glibc

/// A stand-in for logind on a private bus: sessions, their locks, and sleep. After a restart it forgets `LockedHint`
/// without a signal, as the real one does.
package actor LogindStandIn {
  package struct Session: Sendable, Hashable {
    package var id: String
    package var uid: UInt32
    /// Its seat; empty for none.
    package var seat = "seat0"
    /// `wayland`, `x11`, `tty`, ….
    package var type = "wayland"
    /// `user`, `greeter`, ….
    package var sessionClass = "user"
    package var isRemote = false
    /// Whether it is in the foreground.
    package var isActive = true
    package var isLocked = false
    /// `active`, `online`, `closing`.
    package var state = "active"

    /// An active, graphical, unlocked session of class user on seat0.
    package init(id: String, uid: UInt32) {
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
  package private(set) var refusesLocks = false
  /// How often a caller asked for the sessions.
  package private(set) var listings = 0

  package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  private init(_ address: BusAddress) { self.address = address }

  /// Starts the stand-in on a bus. It owns its name when this returns.
  package static func start(on address: BusAddress, sessions: [Session] = []) async throws -> LogindStandIn {
    let logind = LogindStandIn(address)
    try await logind.begin(sessions)
    atEndOfTest { await logind.stop() }
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
  package func stop() async {
    await connection?.crash()
    connection = nil
  }

  /// Leaves the bus and returns. Every `LockedHint` is forgotten without a signal.
  package func restart() async throws {
    await stop()
    for id in sessions.keys { sessions[id]?.isLocked = false }
    try await begin([])
  }

  /// Replies with an error to this many calls for the list of sessions.
  package func fail(listings count: Int) { failures = count }

  /// Logs a user in.
  package func add(_ session: Session) async throws {
    sessions[session.id] = session
    try await connection?.export([interface(of: session.id)], at: path(of: session.id))
    try await emit("SessionNew", session.id)
  }

  package func remove(_ id: String) async throws {
    sessions[id] = nil
    try await connection?.unexport(path(of: id))
    try await emit("SessionRemoved", id)
  }

  /// Changes a session and announces the changed properties, as logind does. Like logind, it never announces `State`.
  package func update(_ id: String, _ change: @Sendable (inout Session) -> Void) async throws {
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

  /// Announces that the machine is about to sleep, or has woken up.
  package func prepareForSleep(_ sleeping: Bool) async throws {
    isSleeping = sleeping
    try await connection?.emit(
      path: Self.managerPath, interface: Self.managerInterface, member: "PrepareForSleep", [.boolean(sleeping)])
  }

  /// Changes the sleep state while the next caller reads it. The caller gets the signal first, and then a reply with
  /// the old state.
  package func overtakeNextReadingOfSleep(with sleeping: Bool) { overtaking = sleeping }

  /// From now on, changes the lock of a session during each read of the session. The signal arrives before the reply.
  /// Nil stops this.
  package func changeDuringReadings(of id: String?) { restless = id }

  package func isLocked(_ id: String) -> Bool { sessions[id]?.isLocked == true }

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

  /// Escapes an id as logind does: a leading digit, and all except letters and digits, become `_` and two hexadecimal
  /// digits.
  private nonisolated func path(of id: String) throws -> ObjectPath {
    var name = ""
    for byte in id.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"):
        name.unicodeScalars.append(Unicode.Scalar(byte))
      case UInt8(ascii: "0")...UInt8(ascii: "9") where !name.isEmpty: name.unicodeScalars.append(Unicode.Scalar(byte))
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
        ExportedMethod("ListSessions", in: [], out: [Argument("sessions", "a(susso)")]) { [weak self] _, _ in
          [.array(element: "(susso)", try await self?.list() ?? [])]
        },
        ExportedMethod(
          "Inhibit",
          in: [Argument("what", "s"), Argument("who", "s"), Argument("why", "s"), Argument("mode", "s")],
          out: [Argument("pipe_fd", "h")]
        ) { [weak self] _, call in
          [.unixFD(try await self?.inhibit(call) ?? FileDescriptor(owning: -1))]
        },
      ],
      properties: [
        ExportedProperty("PreparingForSleep", "b", emits: .none) { [weak self] _ in
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
      ExportedProperty(name, signature, emits: .changed) { [weak self] _ in
        read(await self?.sessions[id] ?? Session(id: id, uid: .max))
      }
    }
    return ExportedInterface(
      Self.sessionInterface,
      properties: [
        ExportedProperty("Id", "s", emits: .none) { [weak self] _ in .string(await self?.readID(id) ?? id) },
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

/// Locks of logind. `Inhibit` takes one; closing the caller's end of the pipe releases it.
extension LogindStandIn {
  package struct Lock: Sendable, Hashable {
    /// `sleep`, or several words separated by colons.
    package let what: String
    package let who: String
    /// `delay` or `block`.
    package let mode: String
  }

  /// The locks that are held at this moment. Locks released a moment ago are left out, even before their watch has
  /// fired.
  package var locks: [Lock] {
    heldLocks.values.filter { held in
      var end = pollfd(fd: held.end.rawValue, events: 0, revents: 0)
      return poll(&end, 1, 0) == 0
    }.map(\.lock)
  }

  /// Waits until this many locks are held.
  package func untilHeld(_ count: Int) async {
    while heldLocks.count != count { await withCheckedContinuation { lockWaiters.append($0) } }
  }

  /// Waits until this many locks were granted in total, across restarts.
  package func untilGiven(_ count: Int) async {
    while lastLock < count { await withCheckedContinuation { lockWaiters.append($0) } }
  }

  func inhibit(_ call: IncomingCall) throws -> FileDescriptor {
    guard !refusesLocks else { throw BusError(name: BusError.Name.accessDenied, message: "not now") }
    let words = call.arguments.map { $0.asString ?? "" }
    guard !(isSleeping && words[0] == "sleep") else {
      throw BusError(
        name: "org.freedesktop.login1.OperationInProgress",
        message: "The operation inhibition has been requested for is already running")
    }
    var ends: [Int32] = [-1, -1]
    guard tagroute_pipe(&ends) == 0 else { throw SystemError("make a pipe") }
    let ours = FileDescriptor(owning: ends[0])
    let theirs = FileDescriptor(owning: ends[1])
    lastLock += 1
    let number = lastLock
    let watch = try DescriptorWatch(ours, on: loop) { [weak self] in
      self?.assumeIsolated { $0.changeLocks { $0[number] = nil } }
    }
    changeLocks { $0[number] = (Lock(what: words[0], who: words[1], mode: words[3]), ours, watch) }
    return theirs
  }

  private func changeLocks(_ change: (inout [Int: (lock: Lock, end: FileDescriptor, watch: DescriptorWatch)]) -> Void) {
    change(&heldLocks)
    for waiter in lockWaiters { waiter.resume() }
    lockWaiters = []
  }
}
