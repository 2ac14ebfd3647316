/// Runs the readings of a configuration one at a time.
///
/// A reading in progress may have read older contents than a new request expects, so the next reading answers that
/// request. All requests before the next reading starts share it. So no request is lost, and none takes effect twice.
/// Requests that arrive before the program is ready wait for ``open()``.
package actor SharedReadings<Outcome: Sendable> {
  private let read: @Sendable () async -> Outcome
  private var reading: Task<Outcome, Never>?
  private var nextReading: Task<Outcome, Never>?
  private var isOpen = false
  private var waiting: CheckedContinuation<Void, Never>?

  /// `read` reads the configuration and applies it.
  package init(read: @escaping @Sendable () async -> Outcome) { self.read = read }

  /// Starts the requested reading, because the program can now apply the result.
  package func open() {
    isOpen = true
    waiting?.resume()
    waiting = nil
  }

  /// Requests a reading that starts no earlier than now.
  @discardableResult package func request() -> Task<Outcome, Never> {
    if let nextReading { return nextReading }
    guard let present = reading else {
      let task = Task { await self.perform() }
      reading = task
      return task
    }
    guard isOpen else { return present }
    let task = Task {
      _ = await present.value
      self.reading = self.nextReading
      self.nextReading = nil
      return await self.perform()
    }
    nextReading = task
    return task
  }

  private func perform() async -> Outcome {
    // There is only one reading at a time, so at most one waits.
    if !isOpen { await withCheckedContinuation { waiting = $0 } }
    let outcome = await read()
    reading = nil
    return outcome
  }
}
