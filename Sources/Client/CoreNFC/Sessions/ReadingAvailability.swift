import Bus
import Dispatch
import EventLoop
import TagrouteClient

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
