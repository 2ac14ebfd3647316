import Bus
import EventLoop
import Names
import TagrouteClient

/// A reader that is lent to a command while the command runs.
///
/// A daemon that restarts does not know the loan, so this actor asks for it again as soon as the daemon has the reader.
/// The daemon cannot open the device while the command has it open.
actor ReaderLoan {
  private let connection: Connection
  private let client: DaemonClient
  private let why: String
  private var inhibitor: Inhibitor?
  private let clock: any Clock<Duration>
  /// The number of readers of the daemon, including the lent one.
  private var readerCount = 0
  /// The pauses between requests to a daemon that does not reply.
  private var pause = ReaderLoan.pauses
  private static let pauses = Backoff(from: .milliseconds(500), to: .seconds(30))
  /// Why there is no loan; nil while there is one, or may be one soon.
  private var loss: LoanLoss?

  nonisolated var unownedExecutor: UnownedSerialExecutor { connection.loop.asUnownedSerialExecutor() }

  /// The connection is to the system bus. Fails only if a constant object path is invalid.
  init(
    _ connection: Connection, why: String, clock: any Clock<Duration> = ContinuousClock()
  ) throws(BusError) {
    self.connection = connection
    self.why = why
    self.clock = clock
    client = try DaemonClient(connection)
  }

  /// Takes the loan of a reader; nil for the first that is ready. Fails like `DaemonClient.releaseReader`.
  func take(_ reader: ObjectPath?) async throws(BusError) -> Inhibitor {
    let inhibitor = try await client.releaseReader(who: "tagroute run", why: why, reader: reader)
    self.inhibitor = inhibitor
    return inhibitor
  }

  /// Takes the loan again whenever a daemon restarts, until the task is cancelled.
  func keep() async {
    let (looks, look) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let following = Task { await follow(look) }
    var alarm: Task<Void, any Error>?
    defer {
      following.cancel()
      alarm?.cancel()
    }
    for await _ in looks {
      alarm?.cancel()
      alarm = nil
      if await isAnswered() {
        pause.reset()
      } else {
        let next = pause.next()
        // The daemon may send no further change.
        alarm = Task { [clock] in
          try await clock.sleep(for: next)
          look.yield()
        }
      }
    }
  }

  /// Checks the loan after each change of the daemon. If the bus reports no changes, checks it after pauses.
  private func follow(_ look: AsyncStream<Void>.Continuation) async {
    var (pause, isSaid) = (Self.pauses, false)
    while !Task.isCancelled {
      do throws(BusError) {
        for await _ in try await client.changes() { look.yield() }
        // The connection was closed, or the task was cancelled.
        return
      } catch {
        guard !Task.isCancelled else { return }
        if !isSaid {
          let what = "the bus does not report changes of the daemon: \(error.message)"
          Console.tell("tagroute: \(Console.printable(what)); tagroute checks it from time to time\n")
        }
        isSaid = true
      }
      look.yield()
      do { try await clock.sleep(for: pause.next()) } catch { return }
    }
  }

  /// Checks the loan, and takes it again if it has ended. Returns whether the daemon replied.
  private func isAnswered() async -> Bool {
    guard let inhibitor else { return true }
    guard inhibitor.isHeld else { return await takeAgain() }
    do throws(BusError) {
      let count = try await client.status().readers.count
      // If the loan ended meanwhile, the reply may be that of a new daemon.
      if inhibitor.isHeld { readerCount = count }
      return true
    } catch {
      return !error.isUnanswered
    }
  }

  /// The exit code of `run`: that of the command, or the code of a lost reader.
  func exitCode(of code: Int32) -> Int32 { loss?.exitCode(of: code) ?? code }

  /// The lent reader among those of a new daemon, which may use another name; nil if it cannot be identified. The
  /// previous daemon had `count` readers.
  static func reader(_ device: String, among readers: [ReaderStatus], of count: Int) -> ReaderStatus? {
    readers.first { $0.device == device } ?? (count == 1 && readers.count == 1 ? readers.first : nil)
  }

  private func takeAgain() async -> Bool {
    guard let device = inhibitor?.device else { return true }
    var state = ""
    do throws(BusError) {
      let readers = try await client.status().readers
      guard let reader = Self.reader(device, among: readers, of: readerCount) else {
        // A daemon without readers has just started.
        if !readers.isEmpty { lose(LoanLoss(unknownToDaemon: device)) }
        return true
      }
      state = reader.state
      // The loss is already reported. Do not make polkit ask the user again.
      if loss != nil, LoanLoss.isTaken(state) { return true }
      _ = try await take(try ObjectPath(reader.path))
      if loss != nil { Console.tell("tagroute: the daemon lends the reader to the command again\n") }
      loss = nil
      return true
    } catch {
      if let found = LoanLoss(error, reader: state) { lose(found) }
      return !error.isUnanswered
    }
  }

  /// Reports the loss once, unless the command has ended.
  private func lose(_ found: LoanLoss) {
    guard !Task.isCancelled, loss == nil else { return }
    loss = found
    Console.report(Failure(message: found.message, exitCode: Names.ExitCode.failure))
  }
}

/// Why a reader is no longer lent to a command: the daemon restarted and does not lend it again.
struct LoanLoss: Hashable, Sendable {
  /// What happened, and what to do.
  let message: String
  private let exitCode: Int32

  /// Nil if the daemon may lend it soon. The caller asks again after the next change or, without a reply, after a
  /// pause. `state` is the state of the reader just before the request.
  init?(_ error: BusError, reader state: String) {
    switch error.name {
    case BusError.Name.nameHasNoOwner, BusError.Name.serviceUnknown: return nil
    case _ where error.isUnanswered: return nil
    // The reader is not open yet, or open in the command. If another client takes it later, its state changes.
    case Names.Errors.notPossible where !Self.isTaken(state): return nil
    default: break
    }
    message = """
      the daemon restarted and no longer lends the reader to the command: \(error.message). The command continues \
      without it until the daemon lends it again: wait, or stop the command and run it again later
      """
    // Other errors, for example of a daemon with another version, mean that there is no reader to lend.
    let isNotAllowed = Failure(error, from: .daemon).exitCode == Names.ExitCode.notAllowed
    exitCode = isNotAllowed ? Names.ExitCode.notAllowed : Names.ExitCode.tryAgain
  }

  /// The daemon has readers, but none that is known to be the lent one. It may use another name for it, or cannot find
  /// it while the command has it open.
  init(unknownToDaemon device: String) {
    message = """
      the daemon restarted, and none of its readers is known to be \(device), which it lent to the command. The \
      command continues without it until the daemon has that reader: wait, or stop the command, check tagroute \
      status, and run it again
      """
    exitCode = Names.ExitCode.tryAgain
  }

  /// Whether another client has a reader in this state.
  static func isTaken(_ state: String) -> Bool { ["released", "in-session"].contains(state) }

  /// The exit code after a command that ended without the reader. If the command failed, it is the code of the loss. A
  /// success, or an end by a signal (128 plus its number), is kept.
  func exitCode(of code: Int32) -> Int32 { (1...128).contains(code) ? exitCode : code }
}
