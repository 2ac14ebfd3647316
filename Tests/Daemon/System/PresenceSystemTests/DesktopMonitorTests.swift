import Bus
import EventLoop
import Glibc
import TestKit
import Testing

@testable import Presence

@Suite(.timeLimit(.minutes(5))) struct DesktopMonitorTests {
  private struct Desk {
    let bus: PrivateBus
    let directory: TemporaryDirectory
    let monitor: DesktopMonitor
    private let changes: AsyncStream<DesktopState>
    var address: BusAddress { BusAddress(bus.address) }

    init(followsCameras: Bool = false, timeout: Duration = .seconds(60)) async throws {
      bus = try await PrivateBus.start()
      directory = try TemporaryDirectory()
      var options = DesktopMonitor.Options(
        directories: SystemDirectories(environment: [
          "TAGROUTE_DEV": directory.file("dev"), "TAGROUTE_SYS": directory.file("sys"),
        ]))
      options.connectorInterval = .milliseconds(20)
      options.followsCameras = followsCameras
      options.timeout = timeout
      let connection = try await Connection.open(BusAddress(bus.address), on: EventLoop(label: "monitor"))
      monitor = DesktopMonitor(connection, options: options)
      changes = monitor.states
    }

    func start() async throws {
      try await monitor.start()
      await monitor.settle(within: .seconds(30))
    }

    func until(_ isExpected: (DesktopState) -> Bool) async throws {
      if isExpected(await monitor.state) { return }
      for await state in changes where isExpected(state) { return }
      throw RigError("the stream of states ended")
    }
  }

  @Test(arguments: ScreenSaver.allCases) func `the monitor follows each screen saver`(_ kind: ScreenSaver) async throws
  {
    let desk = try await Desk()
    try await desk.start()
    #expect(await desk.monitor.state.locked == .unknown)
    let saver = try await ScreenSaverStandIn.start(kind.rawValue, on: desk.address)
    try await desk.until { $0.locked == .no }
    try await saver.setActive(true)
    try await desk.until { $0.locked == .yes }
    try await saver.setActive(false)
    try await desk.until { $0.locked == .no }
    await saver.stop()
    try await desk.until { $0.locked == .unknown }
  }

  @Test(arguments: [("org.freedesktop.ScreenSaver", "/ScreenSaver"), ("org.mate.ScreenSaver", "/")])
  func `the monitor finds a screen saver at another object path`(_ name: String, _ path: String) async throws {
    let desk = try await Desk()
    let saver = try await ScreenSaverStandIn.start(name, on: desk.address, isActive: true, at: try ObjectPath(path))
    try await desk.start()
    #expect(await desk.monitor.state.locked == .yes)
    await saver.stop()
  }

  @Test func `a screen saver that ends while active keeps the session locked`() async throws {
    let desk = try await Desk()
    let first = try await ScreenSaverStandIn.start(on: desk.address, isActive: true)
    try await desk.start()
    #expect(await desk.monitor.state.locked == .yes)
    await first.stop()
    try await desk.until { $0.lockReasons.first?.contains("ended while") == true }
    let second = try await ScreenSaverStandIn.start(on: desk.address)
    await second.asked()
    // The saver's reply is on its way, and its next signal arrives after that.
    try await second.setActive(true)
    try await desk.until { $0.lockReasons == ["org.gnome.ScreenSaver is active"] }
    try await second.setActive(false)
    try await desk.until { $0.locked == .no }
    await second.stop()
  }

  @Test func `a screen saver that can only be inhibited leaves the lock unknown`() async throws {
    let desk = try await Desk()
    let saver = try await ScreenSaverStandIn.start("org.freedesktop.ScreenSaver", on: desk.address, isActive: nil)
    try await desk.start()
    #expect(await desk.monitor.state.locked == .unknown)
    try await saver.setActive(true)
    try await desk.until { $0.locked == .yes }
    await saver.stop()
  }

  @Test func `a screen saver that does not reply leaves the lock unknown`() async throws {
    let desk = try await Desk(timeout: .milliseconds(100))
    let connection = try await Connection.open(desk.address, on: EventLoop(label: "mute"))
    let mute = ExportedMethod("GetActive", out: [Argument("active", "b")]) { _, _ in
      try await hang()
      return [.boolean(false)]
    }
    try await connection.export(
      [ExportedInterface("org.xfce.ScreenSaver", methods: [mute])], at: "/org/xfce/ScreenSaver")
    try await connection.standIn(for: "org.xfce.ScreenSaver")
    try await desk.start()
    #expect(await desk.monitor.state.locked == .unknown)
    await connection.close()
  }

  @Test func `only signals from the owner of the name are used`() async throws {
    let desk = try await Desk()
    let saver = try await ScreenSaverStandIn.start(on: desk.address)
    let other = try await ScreenSaverStandIn.start("org.mate.ScreenSaver", on: desk.address)
    try await desk.start()
    try await other.pretend(true, of: "org.gnome.ScreenSaver")
    try await other.setActive(true)
    try await desk.until { $0.locked == .yes }
    #expect(await desk.monitor.state.lockReasons == ["org.mate.ScreenSaver is active"])
    await saver.stop()
    await other.stop()
  }

  @Test func `the monitor follows the power mode of Mutter and airplane mode`() async throws {
    let desk = try await Desk()
    let mutter = try await PropertyStandIn.start(
      "org.gnome.Mutter.DisplayConfig", "PowerSaveMode", .int32(3), on: desk.address)
    let radios = try await PropertyStandIn.start(
      "org.gnome.SettingsDaemon.Rfkill", "AirplaneMode", .boolean(false), on: desk.address)
    try await desk.start()
    #expect(await desk.monitor.state.displayOff == .yes)
    #expect(await desk.monitor.state.airplaneMode == .no)
    await mutter.set(.int32(0))
    try await desk.until { $0.displayOff == .no }
    await mutter.set(.int32(-1))
    try await desk.until { $0.displayOff == .unknown }
    await mutter.set(.int32(1))
    try await desk.until { $0.displayOff == .yes }
    await mutter.stop()
    try await desk.until { $0.displayOff == .unknown }
    await radios.set(.boolean(true))
    try await desk.until { $0.airplaneMode == .yes }
    await radios.stop()
    try await desk.until { $0.airplaneMode == .unknown }
  }

  @Test func `display connectors are checked only while their state matters`() async throws {
    let desk = try await Desk()
    func power(_ word: String) throws { try desk.directory.write("\(word)\n", to: "sys/class/drm/card0-eDP-1/dpms") }
    try desk.directory.write("connected\n", to: "sys/class/drm/card0-eDP-1/status")
    try power("On")
    try await desk.start()
    #expect(await desk.monitor.state.displayOff == .unknown)
    await desk.monitor.setWanted(true)
    try await desk.until { $0.displayOff == .no }
    try power("Off")
    try await desk.until { $0.displayOff == .yes }
    // During a lock the connectors still matter, because tags may be held.
    await desk.monitor.declare(locked: true)
    try power("On")
    try await desk.until { $0.displayOff == .no }
    await desk.monitor.declare(locked: false)
    try power("Off")
    try await desk.until { $0.displayOff == .yes }
    // A state that is no longer needed becomes unknown. When it is needed again, it is read at once.
    await desk.monitor.setWanted(false)
    try await desk.until { $0.displayOff == .unknown }
    await desk.monitor.setWanted(true)
    try await desk.until { $0.displayOff == .yes }
    await desk.monitor.setWanted(false)
    try power("On")
    await desk.monitor.setWanted(true)
    try await desk.until { $0.displayOff == .no }
  }

  @Test func `cameras that cannot be followed are retried`() async throws {
    let desk = try await Desk(followsCameras: true)
    try await desk.start()
    // The folder of devices does not exist yet.
    await #expect(throws: SystemError.self) { try await desk.monitor.startCameras() }
    await #expect(throws: SystemError.self) { try await desk.monitor.setFollowsCameras(true) }
    try desk.directory.write("", to: "dev/video3")
    try await desk.monitor.setFollowsCameras(true)
    try await desk.until { $0.camera == .no }
  }

  @Test func `the monitor follows cameras that are added and removed`() async throws {
    let desk = try await Desk(followsCameras: true)
    try desk.directory.write("", to: "dev/null0")
    try await desk.start()
    try await desk.monitor.startCameras()
    try await desk.until { $0.camera == .no }
    let path = try desk.directory.write("", to: "dev/video3")
    let camera = open(path, O_RDONLY | O_CLOEXEC)
    try await desk.until { $0.camera == .yes }
    close(camera)
    try await desk.until { $0.camera == .no }
    unlink(path)
    // A new device with the same name is watched as well.
    let next = open(try desk.directory.write("", to: "dev/video3"), O_RDONLY | O_CLOEXEC)
    try await desk.until { $0.camera == .yes }
    close(next)
    try await desk.until { $0.camera == .no }
  }
}

/// The checks of the displays' connectors, with a real clock.
@Suite(.timeLimit(.minutes(5))) struct ConnectorWatchTests {
  @Test func `connectors are checked only while needed`() async throws {
    let directory = try TemporaryDirectory()
    try directory.write("connected\n", to: "drm/card0-DP-1/status")
    try directory.write("On\n", to: "drm/card0-DP-1/dpms")
    let (facts, telling) = AsyncStream.makeStream(of: Fact.self)
    var told = facts.makeAsyncIterator()
    let watch = ConnectorWatch(folder: directory.file("drm"), interval: .milliseconds(5)) { telling.yield($0) }
    #expect(await watch.pause == nil)
    await watch.setNeeded(true)
    #expect(await told.next() == .no)
    #expect(await watch.pause == .milliseconds(5))
    try directory.write("Off\n", to: "drm/card0-DP-1/dpms")
    #expect(await told.next() == .yes)
    await watch.setNeeded(false)
    #expect(await told.next() == .unknown)
    #expect(await watch.pause == nil)
    await watch.setNeeded(true)
    #expect(await told.next() == .yes)
  }

  @Test func `a driver that is loaded later is found`() async throws {
    let directory = try TemporaryDirectory()
    let (facts, telling) = AsyncStream.makeStream(of: Fact.self)
    let watch = ConnectorWatch(
      folder: directory.file("drm"), interval: .seconds(3600), longInterval: .milliseconds(5)
    ) { telling.yield($0) }
    await watch.setNeeded(true)
    #expect(await watch.pause == .milliseconds(5))
    try directory.write("connected\n", to: "drm/card0-DP-1/status")
    try directory.write("On\n", to: "drm/card0-DP-1/dpms")
    var told = facts.makeAsyncIterator()
    #expect(await told.next() == .no)
    #expect(await watch.pause == .seconds(3600))
  }
}
