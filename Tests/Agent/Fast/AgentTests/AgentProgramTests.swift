import Bus
import EventLoop
import Notifications
import Settings
import Testing

@testable import Agent

struct AgentArgumentsTests {
  @Test(
    arguments: [
      ([], AgentArguments.run(configuration: nil)), (["--config", "/etc/x"], .run(configuration: "/etc/x")),
      (["--config=/etc/x"], .run(configuration: "/etc/x")),
      (["--headless"], .run(configuration: nil, isHeadless: true)),
      (["--headless", "--config", "/etc/x"], .run(configuration: "/etc/x", isHeadless: true)),
      (["--bus-name", "org.example.Agent"], .run(configuration: nil, busName: "org.example.Agent")),
      (["--check"], .check(configuration: nil)), (["--check", "--headless"], .check(configuration: nil)),
      (["--check", "--config=/etc/x"], .check(configuration: "/etc/x")),
      (["--config"], .mistake("--config needs a file")), (["--bus-name"], .mistake("--bus-name needs a name")),
      (["--verbose"], .mistake("unknown argument --verbose")), (["x"], .mistake("unknown argument x")),
      (["--version"], .print("tagroute-agent 0.1.0")), (["--help"], .print(AgentArguments.help)),
      (["--config", "/etc/x", "-h"], .print(AgentArguments.help)),
    ] as [([String], AgentArguments)])
  func `the command line selects the action`(line: [String], expected: AgentArguments) {
    #expect(AgentArguments(line) == expected)
  }
}

struct AgentEnvironmentTests {
  @Test func `the file that the command line names replaces the user's`() {
    let home = ["HOME": "/home/somebody"]
    let (usual, named) = (AgentFiles(environment: home), AgentFiles(environment: home, only: "/etc/x"))
    #expect(usual.configuration == "/home/somebody/.config/tagroute/agent.conf" && !usual.isConfigurationNamed)
    #expect(named.configuration == "/etc/x" && named.isConfigurationNamed && named.state == usual.state)
    #expect(AgentFiles(environment: [:]).configuration == nil)
  }

  @Test(arguments: ["greeter", "lock-screen"]) func `no user is logged in at a login screen`(name: String) {
    #expect(LoginScreen.notice(environment: ["XDG_SESSION_CLASS": name])?.contains("XDG_SESSION_CLASS=\(name)") == true)
  }

  @Test(arguments: ["user", "user-early", "user-light", "manager", "background", "", "Greeter"])
  func `a user is logged in in any other session class`(name: String) {
    #expect(LoginScreen.notice(environment: ["XDG_SESSION_CLASS": name]) == nil)
    #expect(LoginScreen.notice(environment: [:]) == nil)
  }

  @Test func `the process that asks domains inherits no sockets of the agent`() {
    let environment = AssociationUpdate.environment(of: [
      "HOME": "/home/somebody", "NOTIFY_SOCKET": "/run/notify", "WATCHDOG_USEC": "1", "LISTEN_FDS": "1",
      "LD_PRELOAD": "x", "https_proxy": "http://proxy", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/bus",
    ])
    #expect(environment == ["DBUS_SESSION_BUS_ADDRESS=unix:path=/bus", "HOME=/home/somebody"])
  }
}

struct SoundSettingTests {
  @Test func `the setting chooses between a tap and a failure`() {
    for (setting, tap, failure) in [
      (AgentConfiguration.Sound.off, NotificationSound.silent, NotificationSound.silent),
      (.on, .arrival, .failure), (.failures, .silent, .failure),
    ] {
      #expect(setting.chosen(.arrival) == tap && setting.chosen(.failure) == failure)
      #expect(setting.chosen(.silent) == .silent)
    }
  }
}

struct RetryTests {
  @Test func `failed work is repeated after growing pauses until it succeeds`() async {
    let clock = RecordingClock()
    let attempts = Locked(0)
    let told = Locked<[String]>([])
    await Retry(clock: clock).run { () async throws(BusError) in
      let attempt = attempts.withLock { count in
        count += 1
        return count
      }
      if attempt < 10 { throw .failed("\(attempt)") }
    } failed: { error in
      told.withLock { $0.append(error.message) }
    }
    #expect(attempts.withLock(\.self) == 10)
    #expect(told.withLock(\.self) == (1...9).map(String.init))
    #expect(clock.pauses.prefix(3) == [.milliseconds(250), .milliseconds(500), .seconds(1)])
    #expect(clock.pauses.suffix(2) == [.seconds(30), .seconds(30)])
  }
}

/// A clock on which every pause ends at once and is recorded.
final class RecordingClock: Clock {
  struct Instant: InstantProtocol {
    let offset: Duration
    func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    func duration(to other: Instant) -> Duration { other.offset - offset }
    static func < (a: Instant, b: Instant) -> Bool { a.offset < b.offset }
  }

  private let slept = Locked<[Duration]>([])
  var pauses: [Duration] { slept.withLock(\.self) }
  var now: Instant { Instant(offset: pauses.reduce(.zero, +)) }
  var minimumResolution: Duration { .zero }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let pause = now.duration(to: deadline)
    slept.withLock { $0.append(pause) }
  }
}

struct ClockWaitTests {
  @Test func `a wait for work that never ends stops at the limit`() async {
    let clock = RecordingClock()
    let (never, _) = AsyncStream.makeStream(of: Void.self)
    #expect(await clock.wait(atMost: .seconds(5)) { for await _ in never {} } == false)
    #expect(clock.pauses == [.seconds(5)])
  }

  @Test func `a wait ends with the work`() async {
    #expect(await ContinuousClock().wait(atMost: .seconds(3600)) {})
  }
}
