import ReaderKit

/// Runs `body` on the device and wraps its failure as `Interruption.deviceLost`.
func asking<Result>(
  _ device: NFCDevice, _ body: (NFCDevice) throws(NFCDevice.Failure) -> Result
) throws(Interruption) -> Result {
  do throws(NFCDevice.Failure) {
    return try body(device)
  } catch {
    throw .deviceLost(error)
  }
}
