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
  /// How many readers there were beside the one that is lent, and it.
  private var readerCount = 0
  /// Why there is no loan; nil where there is one, or is about to be.
  private var loss: LoanLoss?

  nonisolated var unownedExecutor: UnownedSerialExecutor { connection.loop.asUnownedSerialExecutor() }

  /// - Parameters:
  ///   - connection: to the system bus.
  ///   - why: what the loan is for.
  /// - Throws: nothing that a caller can cause.
  init(_ connection: Connection, why: String) throws(BusError) {
    self.connection = connection
    self.why = why
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
    guard let changes = try? await client.changes() else { return }
    for await _ in changes {
      guard let inhibitor else { continue }
      if inhibitor.isHeld {
        let count = (try? await client.status().readers.count) ?? 0
        // Otherwise another daemon may have answered.
        if inhibitor.isHeld { readerCount = count }
      } else {
        await takeAgain()
      }
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

  private func takeAgain() async {
    guard let device = inhibitor?.device else { return }
    var state = ""
    do throws(BusError) {
      let readers = try await client.status().readers
      guard let reader = Self.reader(device, among: readers, of: readerCount) else { return }
      state = reader.state
      // Said already; polkit need not be asked about it again.
      if loss != nil, LoanLoss.isTaken(state) { return }
      _ = try await take(try ObjectPath(reader.path))
      if loss != nil { Console.tell("tagroute: the daemon lends the reader to the command again\n") }
      loss = nil
    } catch {
      // Where the command has ended meanwhile, nobody wants it any more.
      guard !Task.isCancelled, loss == nil, let found = LoanLoss(error, reader: state) else { return }
      loss = found
      Console.report(Failure(message: found.message, exitCode: Names.ExitCode.failure))
    }
  }
}
