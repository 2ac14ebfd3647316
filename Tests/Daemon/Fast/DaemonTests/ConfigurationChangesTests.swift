import Rig
import Settings
import Testing

@testable import Daemon

/// The effects of a changed configuration.
@Suite struct ConfigurationChangesTests {
  struct Change: Sendable, CustomTestStringConvertible {
    let key: String
    let group: String
    let value: String
    let actions: [ConfigurationChanges.Action]

    var testDescription: String { key }
  }

  static let changes = [
    Change(key: "Devices", group: "Reader", value: "pn53x_usb", actions: [.readers]),
    Change(key: "Backend", group: "Reader", value: "pcsc", actions: [.readers]),
    Change(key: "PollInterval", group: "Reader", value: "10", actions: [.policy]),
    Change(key: "IdlePollInterval", group: "Reader", value: "10", actions: [.policy]),
    Change(key: "SessionLimit", group: "Reader", value: "1", actions: [.policy]),
    Change(key: "Technologies", group: "Reader", value: "type-2", actions: [.policy]),
    Change(key: "Feedback", group: "Reader", value: "yes", actions: [.policy]),
    Change(key: "Sessions", group: "Scan", value: "any", actions: [.policy]),
    Change(key: "StationUser", group: "Scan", value: "root", actions: [.policy]),
    Change(key: "RemovalDelay", group: "Scan", value: "0", actions: [.policy]),
    Change(key: "WhenLocked", group: "Scan", value: "hold", actions: [.policy]),
    Change(key: "LockDetection", group: "Scan", value: "strict", actions: [.policy]),
    Change(key: "SmartPosters", group: "Tags", value: "no", actions: [.policy]),
  ]

  private static func configuration(_ changes: [Change]) throws -> DaemonConfiguration {
    let directory = try TemporaryDirectory()
    let lines = changes.map { "[\($0.group)]\n\($0.key)=\($0.value)\n" }
    return try DaemonConfiguration.load(only: directory.write(lines.joined(), to: "tagroute.conf"))
  }

  @Test func `the table of this suite has every configuration key`() {
    let keys = DaemonConfiguration.schema.keys.flatMap(\.value)
    #expect(Set(Self.changes.map(\.key)) == Set(keys))
  }

  @Test(arguments: changes) func `a changed key causes its own actions and no others`(change: Change) throws {
    let (before, after) = (DaemonConfiguration(), try Self.configuration([change]))
    for changes in [
      ConfigurationChanges(from: before, to: after), ConfigurationChanges(from: after, to: before),
    ] { #expect(changes.keys == [change.key]) }
    let changes = ConfigurationChanges(from: before, to: after)
    #expect(changes.actions == change.actions)
    #expect(changes.sessions == (change.key == "Sessions" ? .any : nil))
    #expect(ConfigurationChanges(from: after, to: before).sessions == (change.key == "Sessions" ? .logind : nil))
  }

  @Test func `an equal configuration causes no action`() throws {
    let configuration = try Self.configuration(Self.changes)
    let changes = ConfigurationChanges(from: configuration, to: try Self.configuration(Self.changes))
    #expect(changes.keys == [] && changes.sessions == nil && changes.actions == [])
  }

  @Test func `the policy changes before the devices`() throws {
    let changes = ConfigurationChanges(from: DaemonConfiguration(), to: try Self.configuration(Self.changes))
    #expect(changes.keys.count == Self.changes.count)
    #expect(changes.sessions == .any)
    #expect(changes.actions == [.policy, .readers])
  }
}
