/// Readings of a configuration, one at a time.
///
/// What is being read may be older than a request that comes meanwhile, so that one is answered by the next reading; all that come
/// until it begins share it. So no request is lost, and none has its effect twice. What is asked for before the program is ready waits
/// for that, see ``open()``.
public actor SharedReadings<Outcome: Sendable> {
  private let read: @Sendable () async -> Outcome
  private var reading: Task<Outcome, Never>?
  private var nextReading: Task<Outcome, Never>?
  private var isOpen = false
  private var waiting: CheckedContinuation<Void, Never>?

  /// - Parameter read: reads, and takes over what it has read.
  public init(read: @escaping @Sendable () async -> Outcome) { self.read = read }

  /// Begins with what was asked for, now that there is something that can go by what is read.
  public func open() {
    isOpen = true
    waiting?.resume()
    waiting = nil
  }

  /// Has the configuration be read, beginning no earlier than now.
  ///
  /// - Returns: the reading, and what will have come of it.
  @discardableResult public func request() -> Task<Outcome, Never> {
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
    // There is one reading at a time, so one that waits.
    if !isOpen { await withCheckedContinuation { waiting = $0 } }
    let outcome = await read()
    reading = nil
    return outcome
  }
}
