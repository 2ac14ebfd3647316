import Bus
public import Dispatch
import EventLoop
public import Foundation
import TagrouteClient

/// What every reader session can do (iOS 11).
public protocol NFCReaderSessionProtocol: NSObjectProtocol {
  /// Whether the session was begun and has the reader.
  var isReady: Bool { get }
  /// The instruction that the user sees. It may be set before and while the session is valid.
  ///
  /// The sheet shows its first 256 bytes, without control characters other than line breaks.
  var alertMessage: String { get set }

  /// Asks for the reader.
  func begin()
  /// Ends the session. The user sees a check mark.
  func invalidate()
  /// Ends the session. The user sees the error (iOS 13).
  func invalidate(errorMessage: String)
}

/// A session in which this program alone has the reader, for 60 seconds at most (iOS 11).
///
/// Programs use its subclasses. A session is used once. From `begin()` until the callback about its end, the
/// session keeps itself alive. The delegate is held weakly. Every callback and every completion handler runs on
/// `sessionQueue`, and never inside the call that leads to it.
open class NFCReaderSession: NSObject, NFCReaderSessionProtocol {
  let run: SessionRun
  /// The bus on which the daemon is. Tests set it before `begin()`.
  var bus = BusAddress.system

  /// Not for programs. It is public because otherwise a subclass of a session would inherit no initializer.
  public init(__queue queue: DispatchQueue?) {
    run = SessionRun(queue: queue)
    super.init()
    if let usage = NFCDeclarations.current.usageDescription { run.alertMessage = usage }
  }

  /// The delegate; nil once it has gone.
  open var delegate: AnyObject? { nil }

  /// The queue of all callbacks: the program's, or a serial one of the session's own.
  open var sessionQueue: DispatchQueue { run.queue }

  /// Whether this machine has a reader that this user may use now.
  ///
  /// Asks the daemon and waits at most 200 ms for its answer. Without an answer it is false.
  open class var readingAvailable: Bool { ReadingAvailability.ask(BusAddress.system) }

  open var isReady: Bool { run.isReady }

  open var alertMessage: String {
    get { run.alertMessage }
    set { run.alertMessage = newValue }
  }

  open func begin() { run.begin(self, options, on: bus) }

  open func invalidate() { run.invalidate() }

  open func invalidate(errorMessage: String) { run.invalidate(errorMessage: errorMessage) }

  // MARK: What a kind of session decides, called on its queue

  /// What to ask the daemon for.
  var options: Result<ReaderSessionOptions, NFCReaderError> { .failure(NFCReaderError(.readerErrorUnsupportedFeature)) }

  func didBecomeActive() {}

  func didDetect(_ tags: [ReaderTag]) {}

  func didInvalidate(_ error: NFCReaderError) {}
}

/// The one question that Core NFC asks without a callback.
enum ReadingAvailability {
  /// Waits for the daemon's answer, at most 200 ms. Without an answer it is false.
  static func ask(_ bus: BusAddress) -> Bool {
    let answer = Answer()
    // The caller may block the only thread of Swift's pool, so nothing of this runs there.
    let task = Task(executorPreference: LoopTasks()) { answer.give(await isAvailable(bus)) }
    defer { task.cancel() }
    return answer.wait(atMost: .milliseconds(200))
  }

  private static func isAvailable(_ bus: BusAddress) async -> Bool {
    guard let connection = try? await Connection.open(bus, on: SessionRun.loop) else { return false }
    let isAvailable = try? await DaemonClient(connection).readingAvailable()
    await connection.close()
    return isAvailable ?? false
  }

  /// Runs tasks on the thread of all connections.
  private final class LoopTasks: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      SessionRun.loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
  }

  private final class Answer: Sendable {
    private let value = Locked(false)
    private let arrival = DispatchSemaphore(value: 0)

    func give(_ isAvailable: Bool) {
      value.withLock { $0 = isAvailable }
      arrival.signal()
    }

    func wait(atMost limit: DispatchTimeInterval) -> Bool {
      _ = arrival.wait(timeout: .now() + limit)
      return value.withLock { $0 }
    }
  }
}
