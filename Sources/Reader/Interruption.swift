import ReaderLink

/// What takes the poller out of its course.
enum Interruption: Error {
  case daemonGone(ReaderLinkError)
  case deviceLost(Device.Failure)
}

/// Does something on the device.
func asking<Result>(
  _ device: Device, _ body: (Device) throws(Device.Failure) -> Result
) throws(Interruption) -> Result {
  do throws(Device.Failure) {
    return try body(device)
  } catch {
    throw .deviceLost(error)
  }
}
