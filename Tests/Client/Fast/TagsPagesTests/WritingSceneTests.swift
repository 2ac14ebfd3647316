import TagrouteClient
import TagsPages
import Testing

struct WritingSceneTests {
  private static func scene(_ order: WritingOrder, _ events: [WritingRun<Int>.Event]) -> WritingScene? {
    var run = WritingRun<Int>()
    for event in [.ordered(order), .activated] + events { _ = run.handle(event) }
    return WritingScene(run)
  }

  private static let order = WritingOrder(message: [0xD0, 0, 0])
  private static let batch = WritingOrder(message: [0xD0, 0, 0], isBatch: true)
  private static func hold(_ contents: WritingRun<Int>.Contents) -> [WritingRun<Int>.Event] {
    [.detected(1, name: "NTAG 04A2"), .roundEnded, .examined(1, .success(contents))]
  }

  @Test func `a stopped run leads back to the form`() {
    #expect(WritingScene(WritingRun<Int>()) == nil)
    #expect(Self.scene(Self.order, [.stopped]) == nil)
    #expect(Self.scene(Self.order, Self.hold(.empty) + [.written(1, .success(false)), .dismissed]) == nil)
  }

  @Test func `each state has its buttons, with the safe one first`() throws {
    // A link to example.com.
    let link: [UInt8] = [0xD1, 0x01, 0x0C, 0x55, 0x04] + Array("example.com".utf8)
    let scenes: [(WritingOrder, [WritingRun<Int>.Event], [WritingScene.Button])] = [
      (Self.order, [], [.stop]),
      (Self.order, Self.hold(.message(link)), [.keep, .replace]),
      (Self.batch, Self.hold(.message(link)), [.keep, .replace, .stop]),
      (Self.order, Self.hold(.empty), [.stop]),
      (Self.order, Self.hold(.empty) + [.stopped], []),
      (Self.order, Self.hold(.empty) + [.written(1, .success(false))], [.done]),
      (
        Self.order, Self.hold(.message(link)) + [.answered(replaces: true), .written(1, .success(false))],
        [.done, .writeBack]
      ),
      (
        Self.order,
        Self.hold(.message(link)) + [.answered(replaces: true), .written(1, .failure(.init(.tag(.tagLost))))],
        [.again, .done, .writeBack]
      ),
      (Self.order, [.ended(.timedOut)], [.again, .done]),
      (Self.batch, Self.hold(.empty) + [.written(1, .success(false)), .stopped], [.done]),
      (Self.batch, [.ended(.readerLost)], [.again, .done]),
    ]
    for (order, events, buttons) in scenes { #expect(Self.scene(order, events)?.buttons == buttons, "\(events)") }
    let asking = try #require(Self.scene(Self.order, Self.hold(.message(link))))
    #expect(asking.held == ["link: https://example.com"])
    #expect(asking.text == "NTAG 04A2")
  }

  @Test func `hostile contents stay short, and show no control characters`() throws {
    let text = String(repeating: "\u{202E}e\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\n", count: 2000)
    let payload = [0x02] + Array("en".utf8) + Array(text.utf8)
    let size = [UInt8(truncatingIfNeeded: payload.count >> 8), UInt8(truncatingIfNeeded: payload.count)]
    let scene = try #require(Self.scene(Self.order, Self.hold(.message([0xC1, 0x01, 0, 0] + size + [0x54] + payload))))
    #expect(scene.held.count == 1)
    #expect(scene.held.allSatisfy { $0.count <= 1000 && !$0.unicodeScalars.contains("\u{202E}") && !$0.contains("\n") })
    let damaged = try #require(Self.scene(Self.order, Self.hold(.message([0xFF, 1, 2]))))
    #expect(damaged.held == ["The contents are damaged."])
  }

  @Test func `a batch counts the written tags`() {
    let events =
      Self.hold(.empty) + [
        .written(1, .success(false)), .removed(1), .detected(2, name: "two"), .roundEnded,
        .examined(2, .success(.empty)),
        .written(2, .failure(.init(.room(46)))), .removed(2),
      ]
    #expect(Self.scene(Self.batch, events)?.text == "1 tag written")
    let entry = WritingRun<Int>.Entry(name: "two", outcome: .failed(.room(46)))
    #expect(WritingScene.result(entry).text == "It does not fit: the tag has room for 46 bytes.")
    #expect(!WritingScene.result(entry).isGood)
  }
}
