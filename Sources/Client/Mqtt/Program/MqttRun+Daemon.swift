import Bus
import EventLoop
import Journal
import Names
import TagrouteClient

extension MqttRun {
  /// Follows the readers. Connects to the system bus, which may start later. After that, the connection restores itself.
  func followReaders() async {
    var pause = Backoff(from: .milliseconds(250), to: .seconds(30))
    while true {
      do throws(BusError) {
        let daemon = try await DaemonClient.connect(on: loop)
        self.daemon = daemon
        for await _ in try await daemon.changes() { await readersChanged(daemon) }
        return
      } catch {
        log(.debug, "cannot use the system bus: \(error.message); trying again")
      }
      guard (try? await Task.sleep(for: pause.next())) != nil else { return }
    }
  }

  private func readersChanged(_ daemon: DaemonClient) async {
    do throws(BusError) {
      let status = try await daemon.status()
      handle(.readers(status.readers.map { ReaderState($0, of: status) }))
      // A daemon that was restarted does not know the inhibitor.
      if isScanningOff, inhibitor?.isHeld != true { await keepScanningOff(daemon) }
    } catch {
      let hasNoDaemon = error.name == BusError.Name.nameHasNoOwner || error.name == BusError.Name.serviceUnknown
      if hasNoDaemon { handle(.readers([])) }
    }
  }

  /// Carries out a command of one of the broker's clients.
  func carryOut(_ command: StationCommand) async {
    switch command {
    case .scan(isOn: true):
      log(.notice, "a command from the broker ends its pause of scanning")
      (isScanningOff, inhibitor) = (false, nil)
    case .scan(isOn: false):
      log(.notice, "a command from the broker keeps scanning off")
      isScanningOff = true
      guard let daemon else { return }
      if inhibitor?.isHeld != true { await keepScanningOff(daemon) }
    case .identify: await identify()
    }
  }

  private func keepScanningOff(_ daemon: DaemonClient) async {
    do throws(BusError) {
      let inhibitor = try await daemon.inhibit(who: "tagroute-mqtt", why: "a command from the MQTT broker")
      // A later command may have come meanwhile.
      self.inhibitor = isScanningOff ? inhibitor : nil
    } catch {
      // If it is not allowed now, nothing may turn scanning off later.
      if error.name == Names.Errors.notAuthorized { isScanningOff = false }
      log(.warning, "cannot keep scanning off: \(error.message)")
    }
  }

  /// Has the agent show which machine this is.
  private func identify() async {
    do throws(BusError) {
      try await agent?.identify()
    } catch {
      log(.warning, "the agent cannot show which machine this is: \(error.message)")
    }
  }
}
