import Handlers
import NDEF
import Notifications
import Routing
import Testing
import UniversalLinks

@testable import Agent

struct TagRemovalsTests {
  private var removals = TagRemovals()
  private let app = Application(
    desktopID: "org.example.Menu.desktop", name: "Menu", file: "/f", isDBusActivatable: true, origin: .system)

  private func offer(
    _ action: TapRule.Action? = .run(["/bin/true", "on"]), onRemove: [String] = ["/bin/true", "off"], number: Int = 1
  ) throws -> TapOffer {
    let rules = action.map { action in
      TapRule(
        name: "lamp", origin: .user, file: "/r.conf", line: 1, conditions: [.technology("type-2")], action: action,
        onRemove: onRemove)
    }
    let registry = Registry(
      declarations: [HandlerDeclaration(application: app, domains: [try DomainPattern("menu.example.com")])])
    let read = try TagRead(
      tapValues(number, message: try uriMessage("https://menu.example.com/1")), now: sampleMicroseconds)
    return TapOffer(
      read, registry: registry, policy: RoutingPolicy(), languages: [], rules: RuleSet([rules].compactMap(\.self)))
  }

  /// The arguments of the programs and the ids of the apps.
  private static func words(_ actions: [TagRemovals.Action]) -> [String] {
    actions.map { action in
      switch action {
      case .run(let command, _): command.arguments.joined(separator: " ")
      case .report(let application, _): application.desktopID
      }
    }
  }

  @Test mutating func `the program runs when the tag of an opened tap is removed`() throws {
    let offer = try offer()
    #expect(removals.handle(.opening(offer)) == [])
    #expect(removals.handle(.ended(offer.id, .delivered)) == [])
    let actions = removals.handle(.removed(offer.id))
    #expect(Self.words(actions) == ["/bin/true off"])
    for case .run(_, let click) in actions {
      #expect(click.tapID == offer.id && click.tag == offer.read.withoutContents)
    }
    #expect(removals.handle(.removed(offer.id)) == [])
    #expect(removals.count == 0)
  }

  @Test mutating func `a removal during the hand-over waits for its end`() throws {
    let offer = try offer()
    _ = removals.handle(.opening(offer))
    #expect(removals.handle(.removed(offer.id)) == [])
    #expect(removals.handle(.ended(offer.id, .unknown(HandOverDoubt(.busLost)))) == [])
    #expect(Self.words(removals.handle(.ended(offer.id, .delivered))) == ["/bin/true off"])
    #expect(removals.count == 0)
  }

  @Test mutating func `nothing happens if the rule was not carried out, or behind a lock`() throws {
    let offer = try offer()
    // Removed before the click.
    #expect(removals.handle(.removed(offer.id)) == [])
    _ = removals.handle(.opening(offer))
    #expect(removals.handle(.ended(offer.id, .delivered)) == [])
    for end in [
      TagRemovals.Event.ended(offer.id, .failed(HandOverFailure(.commandMissing))), .forgotten(offer.id),
    ] {
      _ = removals.handle(.opening(offer))
      #expect(removals.handle(end) == [])
      #expect(removals.handle(.removed(offer.id)) == [])
      #expect(removals.count == 0)
    }
    // A rule for an app that is gone: the link is only copied.
    let blocked = try self.offer(.open("gone.desktop"))
    _ = removals.handle(.opening(blocked))
    #expect(removals.count == 0)
    _ = removals.handle(.opening(try self.offer(onRemove: [])))
    #expect(removals.count == 0)
  }

  @Test mutating func `another opening of an open tap changes nothing`() throws {
    let offer = try offer()
    _ = removals.handle(.opening(offer))
    _ = removals.handle(.notOpened(offer.id))
    #expect(removals.count == 0)
    _ = removals.handle(.opening(offer))
    _ = removals.handle(.ended(offer.id, .delivered))
    _ = removals.handle(.opening(offer))
    _ = removals.handle(.notOpened(offer.id))
    #expect(Self.words(removals.handle(.removed(offer.id))) == ["/bin/true off"])
  }

  @Test mutating func `an app that got the message over D-Bus is told, also without a rule`() throws {
    let cases: [(TapRule.Action?, [String])] = [
      (nil, [app.desktopID]), (.open(app.desktopID), ["/bin/true off", app.desktopID]),
    ]
    for (action, expected) in cases {
      let offer = try offer(action)
      _ = removals.handle(.opening(offer))
      _ = removals.handle(.ended(offer.id, .delivered))
      #expect(Self.words(removals.handle(.removed(offer.id))) == expected)
    }
    let link = try offer(nil).handed(to: app, whole: false)
    _ = removals.handle(.opening(link))
    #expect(removals.count == 0)
  }

  @Test mutating func `the taps are bounded`() throws {
    for number in 1...(TagRemovals.most + 10) { _ = removals.handle(.opening(try offer(number: number))) }
    #expect(removals.count == TagRemovals.most)
  }
}
