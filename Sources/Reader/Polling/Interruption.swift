import ReaderLink

/// An error that stops the poller's current step.
enum Interruption: Error {
  case daemonGone(ReaderLinkError)
  case deviceLost(Device.Failure)
}

/// Runs `body` on the device and wraps its failure as `Interruption.deviceLost`.
func asking<Result>(
  _ device: Device, _ body: (Device) throws(Device.Failure) -> Result
) throws(Interruption) -> Result {
  do throws(Device.Failure) {
    return try body(device)
  } catch {
    throw .deviceLost(error)
  }
}
