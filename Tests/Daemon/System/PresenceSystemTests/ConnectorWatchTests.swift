import TestKit
import Testing

@testable import Presence

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
