import Journal
import Rig
import Settings
import Testing

@testable import Mqtt

@Suite struct BrokerSessionTests {
  @Test func `the first connection announces the station and asks for taps`() throws {
    var session = try Sample.session()
    #expect(session.handle(.start) == [.connect(attempt: 1, .five)])
    #expect(session.stateName == "connecting")
    _ = session.handle(.agent(isPresent: true))
    let actions = session.handle(.accepted(attempt: 1))
    let birth = try #require(actions.publications.first)
    #expect(birth.topic == "tagroute/kiosk-7/state")
    #expect(birth.payload == Array("online".utf8))
    #expect(birth.isRetained && birth.qos == 1)
    #expect(actions.contains(.take(limit: 20)))
    #expect(actions.subscriptions == [])
    #expect(session.stateName == "connected")
    #expect(session.stateReason == "")
  }

  @Test func `a confirmed tap is acknowledged and published as fresh`() throws {
    var session = try Sample.session()
    _ = session.handle(.agent(isPresent: true))
    _ = session.connect()
    let log = session.handle(.taken([Sample.tap(1, time: 5_000_000)]), at: Sample.moment(6)).publications
    #expect(log.map(\.topic) == ["tagroute/kiosk-7/log"])
    #expect(log.map(\.isRetained) == [false])
    let token = try #require(log.first?.token)
    let confirmed = session.handle(.confirmed(attempt: 1, token: token, code: 0), at: Sample.moment(7))
    #expect(confirmed.contains(.acknowledge(["tap-1"])) && confirmed.publications.isEmpty)
    let live = try #require(session.handle(.acknowledged, at: Sample.moment(7)).publications.first)
    #expect(live.topic == "tagroute/kiosk-7/tap")
    #expect(live.payload == log.first?.payload)
    #expect(live.qos == 0 && !live.isRetained && live.expiry == 10)
    #expect(session.sent == 1)
  }

  @Test(arguments: [(20.1, false), (20.0, true), (10.0, true), (0.0, true)])
  func `only a fresh tap is published as fresh`(seconds: Double, isFresh: Bool) throws {
    // Read at 10 seconds by the wall clock, which may have been set since.
    var session = try Sample.session()
    _ = session.handle(.agent(isPresent: true))
    _ = session.connect()
    let log = session.handle(.taken([Sample.tap(1, time: 10_000_000)])).publications
    let token = try #require(log.first?.token)
    let now = Moment(clock: .seconds(1), wall: UInt64(seconds * 1_000_000))
    #expect(
      session.handle(.confirmed(attempt: 1, token: token, code: 0), at: now).contains(.acknowledge(["tap-1"])))
    #expect(session.handle(.acknowledged, at: now).publications.isEmpty == !isFresh)
  }

  @Test func `a tap without a confirmation is sent again after the connection was lost`() throws {
    var session = try Sample.session()
    _ = session.handle(.agent(isPresent: true))
    _ = session.connect()
    let first = session.handle(.taken([Sample.tap(1), Sample.tap(2)])).publications
    let token = try #require(first.first?.token)
    #expect(
      session.handle(.confirmed(attempt: 1, token: token, code: 0), at: Sample.moment(60)).contains(
        .acknowledge(["tap-1"])))
    _ = session.handle(.ended(attempt: 1, .lost("cut")), at: Sample.moment(60))
    let until = try #require(session.deadline)
    #expect(session.handle(.time, at: Moment(clock: until, wall: 0)) == [.connect(attempt: 2, .five)])
    _ = session.handle(.accepted(attempt: 2), at: Moment(clock: until, wall: 0))
    // The agent has not answered yet that it has forgotten the first.
    let again = session.handle(.taken([Sample.tap(1), Sample.tap(2)])).publications
    #expect(again.count == 1)
    #expect(again.first?.payload == first.last?.payload)
    // A late confirmation of the first connection is not one of the second.
    let late = try #require(first.last?.token)
    #expect(session.handle(.confirmed(attempt: 1, token: late, code: 0)) == [])
  }

  /// RabbitMQ closes the connection.
  @Test(arguments: [BrokerEnding.unsupportedVersion, .unanswered])
  func `a broker without MQTT 5 gets MQTT 3 at once and from then on`(ending: BrokerEnding) throws {
    var session = try Sample.session()
    _ = session.handle(.start)
    let actions = session.handle(.ended(attempt: 1, ending))
    #expect(actions.contains(.connect(attempt: 2, .threeOneOne)))
    _ = session.handle(.accepted(attempt: 2))
    _ = session.handle(.ended(attempt: 2, .lost("cut")))
    var until = try #require(session.deadline)
    #expect(session.handle(.time, at: Moment(clock: until, wall: 0)) == [.connect(attempt: 3, .threeOneOne)])
    // It was not this broker that answered.
    _ = session.handle(.ended(attempt: 3, ending), at: Moment(clock: until, wall: 0))
    #expect(session.stateName == "waiting")
    until = try #require(session.deadline)
    #expect(session.handle(.time, at: Moment(clock: until, wall: 0)) == [.connect(attempt: 4, .five)])
  }

  @Test(arguments: [(MqttConfiguration.ProtocolVersion.five, MqttVersion.five), (.threeOneOne, .threeOneOne)])
  func `a version that is set is the only one`(set: MqttConfiguration.ProtocolVersion, version: MqttVersion) throws {
    var session = try Sample.session(version: set)
    #expect(session.handle(.start).contains(.connect(attempt: 1, version)))
    _ = session.handle(.ended(attempt: 1, .unanswered))
    #expect(session.stateName == "waiting")
    #expect(session.stateReason.contains("set Version=auto") == (set == .five))
    let until = try #require(session.deadline)
    #expect(session.handle(.time, at: Moment(clock: until, wall: 0)) == [.connect(attempt: 2, version)])
  }

  @Test(
    arguments: [
      (.refused(code: 0x86), "refuses the user or the password: correct User= and PasswordFile="),
      (.refused(code: 4), "refuses the user or the password: correct User= and PasswordFile="),
      (.refused(code: 5), "wants to know who connects: add User= and PasswordFile="),
      (.disconnected(code: 0x8E), "give each machine its own Station="),
      (.insecure("certificate verify failed"), "check CAFile=, the host name and the dates in the certificates"),
      (.unusable("a file"), "check CAFile=, CertificateFile= and KeyFile="),
    ] as [(BrokerEnding, String)])
  func `a refusal waits for two minutes and names the fix`(ending: BrokerEnding, words: String) throws {
    var session = try Sample.session()
    _ = session.handle(.start)
    let actions = session.handle(.ended(attempt: 1, ending), at: Sample.moment(3))
    #expect(session.stateReason.contains(words))
    #expect(actions == [.log(.error, session.stateReason)])
    #expect(session.deadline == .seconds(123))
    // The same trouble again is no news.
    _ = session.handle(.time, at: Sample.moment(123))
    #expect(session.handle(.ended(attempt: 2, ending), at: Sample.moment(124)) == [.log(.debug, session.stateReason)])
  }

  @Test func `a broker that does not take a tap loses the connection and not the tap`() throws {
    var session = try Sample.session()
    _ = session.handle(.agent(isPresent: true))
    _ = session.connect()
    let log = session.handle(.taken([Sample.tap(1)])).publications
    let token = try #require(log.first?.token)
    let actions = session.handle(.confirmed(attempt: 1, token: token, code: 0x87))
    #expect(actions == [.close(gracefully: false)])
    #expect(session.sent == 0)
    _ = session.handle(.ended(attempt: 1, .closed))
    #expect(session.stateReason.contains("does not accept messages on tagroute/kiosk-7/log (not authorized)"))
    #expect(!session.flow.known.contains("tap-1"))
  }

  @Test func `a broker that takes no large messages gets the tap without its contents`() throws {
    var session = try Sample.session(Sample.messages(contents: .yes))
    _ = session.handle(.agent(isPresent: true))
    _ = session.connect()
    let tap = Sample.tap(1, message: [UInt8](repeating: 0xFF, count: 1000))
    let whole = try #require(session.handle(.taken([tap])).publications.first)
    let shorter = try #require(whole.shorter)
    #expect(shorter.count < 300)
    #expect(String(decoding: shorter, as: UTF8.self).contains(#""contents_omitted":true"#))
    // The thread has sent it.
    let noted = session.handle(.tooLarge(attempt: 1, token: whole.token, isShortened: true))
    guard case .log(.warning, _)? = noted.first else { throw RigError("not a warning: \(noted)") }
    #expect(noted.count == 1)
    // The broker says so itself.
    let again = session.handle(.confirmed(attempt: 1, token: whole.token, code: 0x95)).publications
    #expect(again.map(\.payload) == [shorter] && again.first?.shorter == nil)
    // It takes nothing.
    let token = try #require(again.first?.token)
    #expect(
      session.handle(.tooLarge(attempt: 1, token: token, isShortened: false)) == [.close(gracefully: false)])
  }

  @Test func `a large tap at which the connection ends twice is sent without its contents`() throws {
    var session = try Sample.session(Sample.messages(contents: .yes))
    _ = session.handle(.agent(isPresent: true))
    let large = Sample.tap(1, message: [UInt8](repeating: 0xFF, count: StuckTap.size))
    var (now, sizes) = (Sample.moment(0), [Int]())
    for attempt in UInt64(1)...4 {
      _ = session.handle(attempt == 1 ? .start : .time, at: now)
      _ = session.handle(.accepted(attempt: attempt), at: now)
      sizes += session.handle(.taken([large]), at: now).publications.map(\.payload.count)
      _ = session.handle(.ended(attempt: attempt, .dropped), at: now)
      now = Moment(clock: try #require(session.deadline), wall: 0)
    }
    #expect(sizes.map { $0 > StuckTap.size } == [true, true, false, false])
  }

  @Test func `a broker that does not confirm that the station is online is left`() throws {
    var session = try Sample.session()
    let birth = session.connect(at: Sample.moment(10))
    #expect(session.deadline == .seconds(70))
    var other = session
    #expect(session.handle(.time, at: Sample.moment(70)) == [.close(gracefully: false)])
    other.confirm(birth, at: Sample.moment(40))
    #expect(other.deadline == nil)
  }

  @Test func `a broker that confirms nothing for a minute is left`() throws {
    var session = try Sample.session()
    _ = session.handle(.agent(isPresent: true))
    session.confirm(session.connect())
    let log = session.handle(.taken([Sample.tap(1), Sample.tap(2)]), at: Sample.moment(10)).publications
    let token = try #require(log.first?.token)
    #expect(session.deadline == .seconds(70))
    _ = session.handle(.confirmed(attempt: 1, token: token, code: 0), at: Sample.moment(40))
    #expect(session.deadline == .seconds(100))
    #expect(session.handle(.time, at: Sample.moment(99)) == [])
    #expect(session.handle(.time, at: Sample.moment(100)) == [.close(gracefully: false)])
    _ = session.handle(.ended(attempt: 1, .closed), at: Sample.moment(100))
    #expect(session.stateReason.contains("confirmed no message for 60 seconds"))
  }

  @Test func `an attempt without an answer is given up and no second one starts beside it`() throws {
    var session = try Sample.session()
    _ = session.handle(.start)
    #expect(session.deadline == BrokerSession.patience)
    #expect(session.handle(.time, at: Sample.moment(179.9)) == [])
    #expect(session.handle(.time, at: Sample.moment(180)) == [.close(gracefully: false)])
    // The thread may still be connecting.
    #expect(session.deadline == nil)
    #expect(session.handle(.time, at: Sample.moment(500)) == [])
    #expect(session.handle(.accepted(attempt: 1), at: Sample.moment(501)) == [])
    _ = session.handle(.ended(attempt: 1, .closed), at: Sample.moment(502))
    #expect(session.stateReason.contains("no answer within 180 seconds"))
  }

  @Test func `the end says offline, waits for the confirmation, and disconnects`() throws {
    var session = try Sample.session()
    _ = session.connect()
    let farewell = try #require(session.handle(.stop, at: Sample.moment(1)).publications.first)
    #expect(farewell.topic == "tagroute/kiosk-7/state")
    #expect(farewell.payload == Array("offline".utf8))
    #expect(farewell.isRetained && farewell.qos == 1)
    #expect(session.deadline == .seconds(1) + BrokerSession.farewell)
    let actions = session.handle(.confirmed(attempt: 1, token: farewell.token, code: 0), at: Sample.moment(1.1))
    #expect(actions == [.close(gracefully: true)])
    #expect(session.handle(.ended(attempt: 1, .closed), at: Sample.moment(1.2)) == [])
    #expect(session.phase == .stopped)
  }

  @Test func `the end does not wait for a broker that is silent or not there`() throws {
    var silent = try Sample.session()
    _ = silent.connect()
    _ = silent.handle(.stop)
    #expect(silent.handle(.time, at: Sample.moment(1.5)) == [.close(gracefully: false)])
    var absent = try Sample.session()
    _ = absent.handle(.start)
    _ = absent.handle(.ended(attempt: 1, .unreachable("refused")))
    #expect(absent.handle(.stop) == [] && absent.phase == .stopped)
    var connecting = try Sample.session()
    _ = connecting.handle(.start)
    #expect(connecting.handle(.stop) == [.close(gracefully: false)])
    #expect(connecting.handle(.start) == [])
  }

  @Test func `without an agent the state says so`() throws {
    var session = try Sample.session()
    _ = session.connect()
    #expect(session.stateReason.contains("systemctl --user start tagroute-agent"))
    _ = session.handle(.agent(isPresent: true))
    #expect(session.stateReason == "")
  }

  @Test func `a call that the agent does not answer is repeated`() throws {
    var session = try Sample.session()
    _ = session.handle(.agent(isPresent: true))
    _ = session.connect()
    #expect(session.handle(.takingFailed, at: Sample.moment(1)) == [])
    #expect(session.deadline == .seconds(6))
    #expect(session.handle(.time, at: Sample.moment(6)) == [.take(limit: 20)])
    let log = session.handle(.taken([Sample.tap(1)]), at: Sample.moment(60)).publications
    let token = try #require(log.first?.token)
    _ = session.handle(.confirmed(attempt: 1, token: token, code: 0), at: Sample.moment(60))
    _ = session.handle(.acknowledgingFailed, at: Sample.moment(60))
    _ = session.handle(.agent(isPresent: false), at: Sample.moment(61))
    let actions = session.handle(.agent(isPresent: true), at: Sample.moment(62))
    #expect(actions.contains(.acknowledge(["tap-1"])))
  }
}

@Suite struct ReconnectPauseTests {
  @Test func `each pause is a random part of a back-off from one second to two minutes`() {
    var random = SeededGenerator(seed: 1)
    var longest = [Duration](repeating: .zero, count: 10)
    var shortest = [Duration](repeating: .seconds(1000), count: 10)
    for _ in 0..<300 {
      var pause = ReconnectPause()
      for index in longest.indices {
        let next = pause.next(after: .lost("cut"), connectedFor: nil, using: &random)
        longest[index] = max(longest[index], next)
        shortest[index] = min(shortest[index], next)
      }
    }
    let limits: [Duration] = [1, 2, 4, 8, 16, 32, 64, 120, 120, 120].map { .seconds($0) }
    for (index, limit) in limits.enumerated() {
      #expect(shortest[index] >= .zero)
      // The whole range is used: with 300 attempts, each end is reached to within a tenth.
      #expect(shortest[index] < limit / 10)
      #expect(longest[index] <= limit)
      #expect(longest[index] > limit * 9 / 10)
    }
  }

  @Test(arguments: [(29.9, 4.0), (30.0, 1.0)])
  func `only a connection that lasted starts again with the shortest`(lifetime: Double, limit: Double) {
    var random = SeededGenerator(seed: 2)
    var longest = Duration.zero
    for _ in 0..<300 {
      var pause = ReconnectPause()
      _ = pause.next(after: .lost("cut"), connectedFor: nil, using: &random)
      _ = pause.next(after: .lost("cut"), connectedFor: nil, using: &random)
      longest = max(longest, pause.next(after: .lost("cut"), connectedFor: .seconds(lifetime), using: &random))
    }
    #expect(longest <= .seconds(limit))
    #expect(longest > .seconds(limit * 0.9))
  }

  @Test func `after a refusal the pause is the longest`() {
    var random = SeededGenerator(seed: 3)
    var pause = ReconnectPause()
    #expect(pause.next(after: .refused(code: 0x86), connectedFor: nil, using: &random) == .seconds(120))
    #expect(pause.next(after: .refused(code: 0x88), connectedFor: nil, using: &random) <= .seconds(2))
  }
}
