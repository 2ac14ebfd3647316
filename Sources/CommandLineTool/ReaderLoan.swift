import Bus
import EventLoop
import Names
import TagrouteClient

/// A reader that is lent to a command, for as long as the command runs.
///
/// A daemon that is started anew meanwhile knows nothing of the loan, and is asked for it again as soon as it has the reader: where
/// the command has the device open the daemon cannot open it, and takes it between two uses at the most.
actor ReaderLoan {
  private let connection: Connection
  private let client: DaemonClient
  private let why: String
  private var inhibitor: Inhibitor?
  private let clock: any Clock<Duration>
  /// How many readers there were beside the one that is lent, and it.
  private var readerCount = 0
  /// The pause before the daemon is asked again, where it does not answer.
  private var pause = ReaderLoan.shortestPause
  /// From half a second, twice as long each time, to half a minute.
  private static let (shortestPause, longestPause) = (Duration.milliseconds(500), Duration.seconds(30))
  /// Why there is no loan; nil where there is one, or is about to be.
  private var loss: LoanLoss?

  nonisolated var unownedExecutor: UnownedSerialExecutor { connection.loop.asUnownedSerialExecutor() }

  /// - Parameters:
  ///   - connection: to the system bus.
  ///   - why: what the loan is for.
  ///   - clock: what says when a daemon that has not answered is asked again.
  /// - Throws: nothing that a caller can cause.
  init(
    _ connection: Connection, why: String, clock: any Clock<Duration> = ContinuousClock()
  ) throws(BusError) {
    self.connection = connection
    self.why = why
    self.clock = clock
    client = try DaemonClient(connection)
  }

  /// Takes the loan.
  ///
  /// - Parameter reader: the reader's object path; nil is the first one that is ready.
  /// - Returns: what it lasts by, with the device.
  /// - Throws: `BusError`, as `DaemonClient.releaseReader`.
  func take(_ reader: ObjectPath?) async throws(BusError) -> Inhibitor {
    let inhibitor = try await client.releaseReader(who: "tagroute run", why: why, reader: reader)
    self.inhibitor = inhibitor
    return inhibitor
  }

  /// Takes it again whenever a daemon has ended with it, until the task is cancelled.
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
        pause = Self.shortestPause
      } else {
        let pause = nextPause()
        // Nothing that the daemon does later need tell of it.
        alarm = Task { [clock] in
          try await clock.sleep(for: pause)
          look.yield()
        }
      }
    }
  }

  /// Has the loan looked at whenever the daemon has changed; where the bus does not tell of that, now and then.
  private func follow(_ look: AsyncStream<Void>.Continuation) async {
    var (pause, isSaid) = (Self.shortestPause, false)
    while !Task.isCancelled {
      do throws(BusError) {
        for await _ in try await client.changes() { look.yield() }
        // The connection was closed, or nobody waits any more.
        return
      } catch {
        guard !Task.isCancelled else { return }
        if !isSaid {
          let what = "the bus does not tell what becomes of the daemon: \(error.message)"
          Console.tell("tagroute: \(Console.printable(what)); it is asked now and then\n")
        }
        isSaid = true
      }
      look.yield()
      do { try await clock.sleep(for: pause) } catch { return }
      pause = min(pause * 2, Self.longestPause)
    }
  }

  private func nextPause() -> Duration {
    defer { pause = min(pause * 2, Self.longestPause) }
    return pause
  }

  /// Looks at the loan, and takes it again where it is over.
  ///
  /// - Returns: whether the daemon has answered what it was asked.
  private func isAnswered() async -> Bool {
    guard let inhibitor else { return true }
    guard inhibitor.isHeld else { return await takeAgain() }
    do throws(BusError) {
      let count = try await client.status().readers.count
      // Otherwise another daemon may have answered.
      if inhibitor.isHeld { readerCount = count }
      return true
    } catch {
      return !error.isUnanswered
    }
  }

  /// What the command's end means for a script.
  ///
  /// - Parameter code: its exit code, as a shell counts.
  /// - Returns: that, or why it had no reader.
  func exitCode(of code: Int32) -> Int32 { loss?.exitCode(of: code) ?? code }

  /// - Parameters:
  ///   - device: what was lent.
  ///   - readers: those of the daemon that there is now, which may call it otherwise.
  ///   - count: how many the daemon before had.
  /// - Returns: the same reader; nil where there is no telling which that is.
  static func reader(_ device: String, among readers: [ReaderStatus], of count: Int) -> ReaderStatus? {
    readers.first { $0.device == device } ?? (count == 1 && readers.count == 1 ? readers.first : nil)
  }

  private func takeAgain() async -> Bool {
    guard let device = inhibitor?.device else { return true }
    var state = ""
    do throws(BusError) {
      let readers = try await client.status().readers
      guard let reader = Self.reader(device, among: readers, of: readerCount) else {
        // One that has none yet is about to find some.
        if !readers.isEmpty { lose(LoanLoss(unknownToDaemon: device)) }
        return true
      }
      state = reader.state
      // Said already; polkit need not be asked about it again.
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

  /// Says it, once. Where the command has ended meanwhile, nobody wants the reader any more.
  private func lose(_ found: LoanLoss) {
    guard !Task.isCancelled, loss == nil else { return }
    loss = found
    Console.report(Failure(message: found.message, exitCode: Names.ExitCode.failure))
  }
}
