import Journal
import Rig
import Settings
import Testing

@testable import Mqtt

/// The messages that a session publishes besides taps, and the messages that it receives.
@Suite struct BrokerSessionMessageTests {
  private func reader(_ name: String, _ text: String) -> PublishedReader {
    PublishedReader(name: name, payload: Array(text.utf8))
  }

  @Test func `only changes of readers are published, and a reader that is gone becomes empty`() throws {
    var session = try Sample.session()
    #expect(session.handle(.readers([reader("0", "a"), reader("1", "b")])) == [])
    let first = session.connect().publications.dropFirst()
    #expect(first.map(\.topic) == ["tagroute/kiosk-7/reader/0/state", "tagroute/kiosk-7/reader/1/state"])
    #expect(first.map(\.payload) == [Array("a".utf8), Array("b".utf8)])
    #expect(first.allSatisfy { $0.isRetained && $0.qos == 1 })
    #expect(session.handle(.readers([reader("0", "a"), reader("1", "b")])) == [])
    let changed = session.handle(.readers([reader("1", "c")])).publications
    #expect(changed.map(\.topic) == ["tagroute/kiosk-7/reader/0/state", "tagroute/kiosk-7/reader/1/state"])
    #expect(changed.map(\.payload) == [[], Array("c".utf8)])
  }

  @Test func `a new connection gets all readers again`() throws {
    var session = try Sample.session()
    _ = session.handle(.readers([reader("0", "a"), reader("1", "b")]))
    _ = session.connect()
    _ = session.handle(.ended(attempt: 1, .lost("cut")))
    #expect(session.handle(.readers([reader("1", "b")])) == [])
    let until = try #require(session.deadline)
    _ = session.handle(.time, at: Moment(clock: until, wall: 0))
    let again = session.handle(.accepted(attempt: 2), at: Moment(clock: until, wall: 0)).publications.dropFirst()
    #expect(again.map(\.payload) == [[], Array("b".utf8)])
  }

  @Test func `Home Assistant gets its descriptions at the connection and after its own start`() throws {
    var session = try Sample.session(Sample.messages(discovery: true))
    let actions = session.connect()
    session.confirm(actions)
    let topics = [
      "homeassistant/tag/tagroute_kiosk-7/tag/config", "homeassistant/binary_sensor/tagroute_kiosk-7/state/config",
    ]
    #expect(Array(actions.publications.map(\.topic).suffix(2)) == topics)
    #expect(actions.subscriptions == ["homeassistant/status"])
    func status(_ text: String, isRetained: Bool = false) -> [String] {
      session.handle(
        .message(attempt: 1, topic: "homeassistant/status", payload: Array(text.utf8), isRetained: isRetained)
      ).publications.map(\.topic)
    }
    #expect(status("online") == topics)
    // They are not confirmed yet.
    #expect(status("online") == [])
    #expect(status("offline") == [])
    #expect(status("online", isRetained: true) == [])
  }

  @Test func `a refused subscription is a warning with its topic`() throws {
    var session = try Sample.session(Sample.messages(commands: true))
    let topic = try #require(session.connect().subscriptions.first)
    let actions = session.handle(.notSubscribed(attempt: 1, topic: topic, code: 0x87))
    let text =
      "\(session.identity.broker) sends no messages on \(topic) (not authorized): correct the broker's access rules"
    #expect(actions == [.log(.warning, text)])
    // Only once.
    #expect(session.handle(.notSubscribed(attempt: 1, topic: topic, code: 0x87)) == [])
    #expect(session.handle(.notSubscribed(attempt: 0, topic: topic, code: 0x87)) == [])
  }

  @Test func `a topic that the broker forbade is tried again after an hour`() throws {
    var session = try Sample.session(Sample.messages(commands: true))
    let topics = session.connect().subscriptions
    let topic = try #require(topics.first)
    _ = session.handle(.notSubscribed(attempt: 1, topic: topic, code: 0x87), at: Sample.moment(0))
    /// The topics that the session subscribes to after a break of the connection.
    func afterBreak(at seconds: Double, attempt: UInt64) -> [String] {
      _ = session.handle(.ended(attempt: attempt - 1, .closed), at: Sample.moment(seconds))
      _ = session.handle(.time, at: Sample.moment(seconds + 200))
      let actions = session.handle(.accepted(attempt: attempt), at: Sample.moment(seconds + 200))
      for publication in actions.publications {
        _ = session.handle(
          .confirmed(attempt: attempt, token: publication.token, code: 0), at: Sample.moment(seconds + 200))
      }
      return actions.subscriptions
    }
    #expect(afterBreak(at: 100, attempt: 2) == topics.filter { $0 != topic })
    #expect(afterBreak(at: 3600, attempt: 3) == topics)
    // Without a break, too.
    _ = session.handle(.notSubscribed(attempt: 3, topic: topic, code: 0x87), at: Sample.moment(5000))
    #expect(session.deadline == .seconds(8600))
    #expect(session.handle(.time, at: Sample.moment(8599)).subscriptions == [])
    #expect(session.handle(.time, at: Sample.moment(8600)).subscriptions == topics)
  }

  @Test func `a refused description is a warning and no end`() throws {
    var session = try Sample.session(Sample.messages(discovery: true))
    let token = try #require(session.connect().publications.last?.token)
    let actions = session.handle(.confirmed(attempt: 1, token: token, code: 0x87))
    guard case .log(.warning, let text)? = actions.first else { throw RigError("not a warning: \(actions)") }
    #expect(actions.count == 1)
    #expect(text.contains("homeassistant/binary_sensor/tagroute_kiosk-7/state/config"))
    #expect(session.stateName == "connected")
  }

  @Test func `commands are carried out once a second, and only if they are on`() throws {
    var session = try Sample.session(Sample.messages(commands: true))
    let actions = session.connect()
    #expect(actions.subscriptions == ["tagroute/kiosk-7/command/scan", "tagroute/kiosk-7/command/identify"])
    func send(_ topic: String, _ text: String, at seconds: Double, isRetained: Bool = false) -> [StationCommand] {
      session.handle(
        .message(attempt: 1, topic: topic, payload: Array(text.utf8), isRetained: isRetained),
        at: Sample.moment(seconds)
      ).compactMap { if case .perform(let command) = $0 { command } else { nil } }
    }
    let scan = "tagroute/kiosk-7/command/scan"
    #expect(send(scan, "off", at: 10) == [.scan(isOn: false)])
    #expect(send(scan, "on", at: 10.9) == [])
    #expect(send(scan, "on", at: 11) == [.scan(isOn: true)])
    #expect(send(scan, "off", at: 20, isRetained: true) == [])
    #expect(send(scan, "OFF", at: 21) == [])
    #expect(send("tagroute/other/command/scan", "off", at: 22) == [])
    #expect(send("tagroute/kiosk-7/command/identify", "", at: 23) == [.identify])
    #expect(send("tagroute/kiosk-7/command/identify", String(repeating: "x", count: 17), at: 25) == [])

    var deaf = try Sample.session()
    #expect(deaf.connect().subscriptions == [])
    let message = BrokerEvent.message(attempt: 1, topic: scan, payload: Array("off".utf8), isRetained: false)
    #expect(deaf.handle(message) == [])
  }
}
