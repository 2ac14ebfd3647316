import Names
import TestKit

@testable import ReaderSimulator

/// Virtual readers and a pcscd that drives them.
struct ServiceRig {
  /// Holds sockets, configuration and log of pcscd.
  let directory: TemporaryDirectory
  let readers: SimulatedCardReaders
  let pcscd: PrivatePCSCD

  /// With a `testbed`, the readers are USB devices that are not plugged in yet. `isOnDemand`: whether pcscd starts only
  /// when a client connects.
  init(
    _ models: [CardReaderModel], testbed: DeviceTestbed? = nil, isOnDemand: Bool = false, starter: String = #function
  ) async throws {
    let directory = try TemporaryDirectory()
    let readers = try await SimulatedCardReaders.start(socket: directory.file("readers"))
    atEndOfTest {
      await readers.stop()
      withExtendedLifetime(directory) {}
    }
    for model in models { await readers.addReader(model) }
    var options = PrivatePCSCD.Options()
    options.startsOnDemand = isOnDemand
    let pcscd: PrivatePCSCD
    if let testbed {
      options.environment = testbed.environment
      pcscd = try await readers.startHotplugPCSCD(in: directory.path, options: options)
    } else {
      pcscd = try await readers.startPCSCD(in: directory.path, options: options)
    }
    atEndOfTest {
      await pcscd.kill()
      keepLog(pcscd.log(), of: "pcscd", starter: starter)
    }
    (self.directory, self.readers, self.pcscd) = (directory, readers, pcscd)
  }

  var environment: [String: String] { [Names.PCSC.socketVariable: pcscd.socket] }
}
