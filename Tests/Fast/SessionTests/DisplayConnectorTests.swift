import TestSupport
import ScanGate
import Testing

@testable import Session

@Suite struct DisplayConnectorTests {
  @Test(arguments: [
    ([], Fact.unknown),
    (["disconnected Off"], .unknown),
    (["connected On"], .no),
    (["connected Off"], .yes),
    (["connected Standby", "connected Suspend", "disconnected On"], .yes),
    (["connected Off", "connected On"], .no),
    (["connected Off", "connected 3"], .no),
    (["unknown Off"], .unknown),
  ])
  func `displays are off if all connected displays are off`(_ words: [String], _ expected: Fact) {
    let connectors = words.map { text in
      let parts = text.split(separator: " ").map(String.init)
      return DisplayConnector(status: parts[0], power: parts[1])
    }
    #expect(DisplayConnector.areOff(connectors) == expected)
  }

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
    while await watch.pause != .seconds(3600) { await Task.yield() }
  }

  @Test func `connectors are read from the folder of the kernel`() throws {
    let directory = try TemporaryDirectory()
    #expect(DisplayConnector.present(in: directory.file("drm")) == [])
    // The card itself, a render node, a connector without `dpms`, a complete connector, and one with a huge `dpms`.
    try directory.write("connected\n", to: "drm/card0/status")
    try directory.write("On\n", to: "drm/card0/dpms")
    try directory.write("", to: "drm/renderD128/dev")
    try directory.write("connected\n", to: "drm/card0-DP-1/status")
    try directory.write("connected\n", to: "drm/card0-eDP-1/status")
    try directory.write("Off\n", to: "drm/card0-eDP-1/dpms")
    try directory.write("disconnected\n", to: "drm/card0-HDMI-A-1/status")
    try directory.write(String(repeating: "x", count: 100_000), to: "drm/card0-HDMI-A-1/dpms")
    let found = Set(DisplayConnector.present(in: directory.file("drm")))
    let endless = String(repeating: "x", count: 32)
    #expect(
      found == [
        DisplayConnector(status: "connected", power: "Off"),
        DisplayConnector(status: "disconnected", power: endless),
      ])
  }
}
