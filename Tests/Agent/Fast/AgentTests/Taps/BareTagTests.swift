import Handlers
import Inbox
import Notifications
import Routing
import Testing

@testable import Agent

/// Tags without a message: what the agent makes of them.
struct BareTagTests {
  private static let uid: [UInt8] = [0x04, 0xA2, 0x19, 0x5A]
  private static let random: [UInt8] = [0x08, 0xA2, 0x19, 0x5A]

  private func offer(
    uid: [UInt8] = Self.uid, shows: Bool = false, _ condition: TapRule.Condition? = nil,
    _ action: TapRule.Action = .run(["/bin/true"])
  ) throws -> TapOffer {
    let rules = condition.map { condition in
      [TapRule(name: "card", origin: .user, file: "/r.conf", line: 1, conditions: [condition], action: action)]
    }
    let reading = try TagReading(tapValues(1, message: [], uid: uid, technology: "type-4a"), now: sampleTime)
    return TapOffer(
      reading, registry: Registry(declarations: []), policy: RoutingPolicy(showsBareTags: shows), languages: [],
      rules: RuleSet(rules ?? []))
  }

  @Test func `without a rule it is ignored, and that is no failure`() throws {
    let offer = try offer()
    #expect(!offer.isShown && !offer.isOpenable && !offer.mayOpenAtOnce && offer.obstacle == nil)
    #expect(offer.ending.state == .dismissed && offer.ending.reason.code == .ignored)
    #expect(offer.ending.reason.detail == "the tag has no message")
    let reading = try TagReading(tapValues(1, message: []), now: sampleTime)
    #expect(offer.tap(reading).title == "Tag without a message")
  }

  @Test func `with BareTags=show the UID is shown and can be copied`() throws {
    let offer = try offer(shows: true)
    #expect(offer.isShown && !offer.isOpenable && offer.copied == "04-A2-19-5A")
    let notification = offer.notification(timeout: -1, canCopy: true)
    #expect(notification.summary.string == "Tag without a message")
    #expect(notification.body.string == "04-A2-19-5A")
    #expect(notification.buttons.map(\.label) == ["Copy", "Dismiss"])
    #expect(try !self.offer(uid: [], shows: true).isShown)
  }

  @Test(arguments: [
    TapRule.Condition.uid([0x04, 0xA2, 0x19, 0x5A]), .technology("type-4a"), .reader("0"),
    .reader("/org/tagroute/Tagroute1/readers/0"),
  ])
  func `a rule can act on it`(condition: TapRule.Condition) throws {
    let run = try offer(condition)
    #expect(run.isOpenable && run.isShown && run.command?.arguments == ["/bin/true"])
    #expect(run.notification(timeout: -1, canCopy: true).body.string == "04-A2-19-5A")
    let shown = try offer(condition, .show)
    #expect(shown.isShown && shown.text.string == "04-A2-19-5A")
    #expect(try !offer(shows: true, condition, .ignore).isShown)
    let opened = try offer(condition, .openDefault)
    #expect(!opened.isShown && opened.ending.state == .dismissed)
  }

  @Test func `conditions about a message do not hold`() throws {
    let digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    for condition in [
      TapRule.Condition.message(digest), .text(""), .mimeType("text/*"), .externalType("example.com:a"),
    ] {
      #expect(try !offer(condition).isOpenable, "\(condition)")
    }
    #expect(try !offer(uid: Self.random, .uid(Self.uid)).isOpenable)
  }
}
