import ReaderSimulator
import TestKit
import Testing

/// `transit-card` with the real daemon and a simulated card, which returns at most 12 blocks at once.
@Suite(.timeLimit(.minutes(5))) struct TransitCardReaderTests {
  @Test(arguments: AppRig.Place.allCases)
  func `twelve journeys are printed, wherever the Info.plist is`(place: AppRig.Place) async throws {
    let rig = try await AppRig(starter: "`twelve journeys are printed, wherever the Info.plist is`_\(place)")
    let card = await rig.reader.place(try .transitCard())
    let before = try await rig.memory(of: card)
    let (status, log) = try await rig.run("transit-card", place: place)
    #expect(status == .exited(0), "\(log)")
    #expect(log.count == 12)
    #expect(log.first == "2024-11-28  E30F → E310  ¥1000")
    #expect(log.last == "2024-11-17  E31A → E31B  ¥3310")
    #expect(try await rig.memory(of: card) == before)
    await rig.stop()
  }

  @Test func `blocks without a date are left out`() async throws {
    let rig = try await AppRig()
    let history = SimulatedTag.transitHistory(2) + Array(repeating: [UInt8](repeating: 0, count: 16), count: 18)
    await rig.reader.place(try .transitCard(history: history))
    let (status, log) = try await rig.run("transit-card")
    #expect(status == .exited(0), "\(log)")
    #expect(log == ["2024-11-28  E30F → E310  ¥1000", "2024-11-27  E310 → E311  ¥1210"])
    await rig.stop()
  }
}
