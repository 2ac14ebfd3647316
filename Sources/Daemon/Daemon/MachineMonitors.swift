import Bus
import EventLoop
import Glibc
import Journal
import Presence

/// What the daemon follows of the machine: logind's sessions and sleep, and the radio switches.
@DaemonLoop final class MachineMonitors {
  private let core: DaemonCore
  /// Nil with `Sessions=any`.
  private(set) var logins: LoginMonitor?
  private var sleepInhibitor: SleepInhibitor?
  private var radioSwitches: RadioSwitchMonitor?
  private var task: Task<Void, Never>?

  init(_ core: DaemonCore) { self.core = core }

  func followLogins(_ connection: Connection) async throws(BusError) {
    let logins = LoginMonitor(connection)
    self.logins = logins
    sleepInhibitor = SleepInhibitor(connection) { [log = core.log] in log(.warning, $0) }
    try await logins.start()
    task = Task { [weak self] in
      for await login in logins.states { self?.receive(login, of: logins) }
    }
  }

  /// Stops following logind. The daemon then neither delays sleep nor knows any session.
  func leaveLogins() async {
    let (monitor, inhibitor) = (logins, sleepInhibitor)
    (logins, sleepInhibitor) = (nil, nil)
    await inhibitor?.stop()
    await monitor?.stop()
  }

  private func receive(_ login: LoginState, of monitor: LoginMonitor) {
    guard logins === monitor else { return }
    core.handle(.login(login))
    // Do this after `handle`, which sends the readers their goals. Sleep is then delayed only if a field is still on.
    sleepInhibitor?.assumeIsolated { $0.receive(login) }
  }

  func followRadioSwitches() {
    let monitor = RadioSwitchMonitor("\(core.directories.devices)/rfkill", on: DaemonLoop.loop) { [weak core] fact in
      DaemonLoop.assumeIsolated { core?.handle(.airplaneMode(fact)) }
    }
    radioSwitches = monitor
    do throws(SystemError) {
      try monitor.assumeIsolated { monitor in Result { () throws(SystemError) in try monitor.start() } }.get()
    } catch {
      core.log(error.number == ENOENT ? .info : .warning, "\(error): only the desktop reports airplane mode")
    }
  }

  /// Tells the sleep inhibitor whether a field is on.
  func updateFields() {
    let areFieldsOff = core.state.readers.areFieldsOff
    sleepInhibitor?.assumeIsolated { $0.setFields(areOff: areFieldsOff) }
  }

  /// Ignores logind's sessions from here.
  func cancel() { task?.cancel() }

  func stop() async {
    await radioSwitches?.stop()
    await leaveLogins()
  }
}
