public import Rig

extension ChildProcess {
  /// Sends a signal to the process and waits until it has ended. Throws like `exit`.
  @discardableResult public func exit(after signal: Int32) async throws -> ExitStatus {
    self.signal(signal)
    return try await exit()
  }
}
