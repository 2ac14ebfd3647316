import Bus
import EventLoop
import Glibc
import Names
import ReaderSimulator
import TagrouteClient
import TestKit

/// The time from a change of a condition to the field being off. Daemon, agent, reader process and libnfc are real. The
/// stand-ins are logind, polkit, a screen saver and a compositor, so the times of their signals are known. A tag rests
/// on the reader. The field is therefore on when the change comes, or the reader is in the middle of a presence check.
struct GateBenchmark {
  /// How often each condition changes.
  let changes: Int

  func run(_ results: inout Results) async throws {
    try await BenchmarkPrograms.build()
    let clock = MachineClock()
    let reader = try await SimulatedReader.start(timing: .realistic, clock: clock)
    var options = Installation.Options()
    options.daemonSettings = ["Scan": ["Sessions=logind"]]
    options.agentSettings = ["Scan": ["SuspendForCamera=yes"]]
    let installation = try await Installation(options)
    guard symlink(await reader.path, installation.directory.file("reader")) == 0 else {
      throw SystemError("make a link to the simulated reader")
    }
    let address = BusAddress(installation.systemBus.address)
    let session = LogindStandIn.Session(id: "2", uid: getuid())
    let logind = try await LogindStandIn.start(on: address, sessions: [session])
    let polkit = try await PolkitStandIn.start(
      on: address, allowing: [Names.PolkitAction.inhibit, Names.PolkitAction.configure])
    let desktop = try await Desktop(installation)
    try await installation.startDaemon()
    try await installation.startAgent()
    try await installation.waitUntilScanning()

    let rig = Rig(clock: clock, reader: reader, installation: installation)
    results += try await rig.measure("locked", changes) {
      try await logind.update("2") { $0.isLocked = true }
    } undo: {
      try await logind.update("2") { $0.isLocked = false }
    }
    results += try await rig.measure("another session comes to the front", changes) {
      try await logind.update("2") { $0.isActive = false }
    } undo: {
      try await logind.update("2") { $0.isActive = true }
    }
    results += try await rig.measure("about to sleep", changes) {
      try await logind.prepareForSleep(true)
    } undo: {
      try await logind.prepareForSleep(false)
    }
    let client = try await Connection.open(address, on: EventLoop(label: "bench"))
    let held = Held()
    results += try await rig.measure("inhibited, polkit's answer included", changes) {
      let reply = try await client.call(
        Names.Daemon.busName, ObjectPath(Names.Daemon.path), Names.Daemon.managerInterface, "Inhibit",
        [.string("tagroute-bench"), .string("a measurement")])
      await held.keep(reply.first?.asUnixFD)
    } undo: {
      await held.keep(nil)
    }
    let daemon = try DaemonClient(client)
    results += try await rig.measure("switched off, polkit's answer included", changes) {
      try await daemon.setEnabled(false)
    } undo: {
      try await daemon.setEnabled(true)
    }
    try await desktop.measure(rig, changes, &results)
    await polkit.stop()
    await desktop.stop()
    await installation.stop()
    await logind.stop()
    await reader.stop()
  }

  /// The conditions that the agent reports: a screen saver and a compositor on the session bus, and a camera.
  private struct Desktop {
    let saver: ScreenSaverStandIn
    let compositor: PropertyStandIn
    /// The file that replaces the camera's device.
    let camera: String

    init(_ installation: Installation) async throws {
      guard let session = installation.sessionBus else { throw RigError("there is no session bus of its own") }
      let address = BusAddress(session.address)
      saver = try await ScreenSaverStandIn.start(on: address)
      compositor = try await PropertyStandIn.start(
        "org.gnome.Mutter.DisplayConfig", "PowerSaveMode", .int32(0), on: address)
      camera = try installation.directory.write("", to: "dev/video0")
    }

    func measure(_ rig: Rig, _ changes: Int, _ results: inout Results) async throws {
      results += try await rig.measure("a screen saver comes on", changes) {
        try await saver.setActive(true)
      } undo: {
        try await saver.setActive(false)
      }
      results += try await rig.measure("the display goes off", changes) {
        await compositor.set(.int32(3))
      } undo: {
        await compositor.set(.int32(0))
      }
      let held = Held()
      results += try await rig.measure("a camera is opened", changes) {
        await held.keep(FileDescriptor(owning: open(camera, O_RDONLY | O_CLOEXEC)))
      } undo: {
        await held.keep(nil)
      }
    }

    func stop() async {
      await saver.stop()
      await compositor.stop()
    }
  }

  /// The caller's end of an inhibitor's pipe, or an open device.
  private actor Held {
    private var descriptor: FileDescriptor?
    func keep(_ descriptor: FileDescriptor?) { self.descriptor = descriptor }
  }

  private struct Rig {
    let clock: MachineClock
    let reader: SimulatedReader
    let installation: Installation

    func measure(
      _ name: String, _ changes: Int, change: () async throws -> Void, undo: () async throws -> Void
    ) async throws -> Results.Series {
      var latencies: [Duration] = []
      let message = try BenchmarkTag.message(size: 32)
      for _ in 0..<changes {
        let tag = await reader.place(try BenchmarkTag.all[0].make(message))
        try await reader.wait { $0.isFieldOn }
        // Waits past the read, until a random moment of the presence checks.
        try await Task.sleep(for: .milliseconds(Int.random(in: 300...500)))
        try await reader.wait { $0.isFieldOn }
        let changed = clock.now
        try await change()
        try await reader.wait { !$0.isFieldOn }
        latencies.append(clock.now - changed)
        try await undo()
        try await reader.wait { $0.isFieldOn }
        await reader.remove(tag)
        try await installation.waitUntilScanning()
      }
      return .init("to the field being off", latencies, ["Change": name])
    }
  }
}
