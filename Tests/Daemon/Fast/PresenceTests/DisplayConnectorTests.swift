import Rig
import Testing

@testable import Presence

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
