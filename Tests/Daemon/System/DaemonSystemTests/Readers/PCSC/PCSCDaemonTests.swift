import Bus
import EventLoop
import Glibc
import Journal
import Names
import ReaderProtocol
import TestKit
import Testing

@testable import DaemonTests

/// The real `tagrouted` with a stand-in for `tagroute-reader-pcsc`, on a system without udev.
@Suite(.timeLimit(.minutes(5))) struct PCSCDaemonTests {
  private static let name = "Scripted NFC [CL] 00 00"
  private static let readyLine = "reader Scripted (pcsc:\(name)) is ready"

  private static func rig(environment: [String: String] = [:]) async throws -> DaemonRig {
    try await DaemonRig(
      sessions: nil, devices: "", pcscList: "readers 1\n- - \(name)\n", environment: environment,
      readyLine: readyLine)
  }

  @Test func `a reader of pcscd's list is used through the other program, until it leaves the list`() async throws {
    let rig = try await Self.rig()
    let agent = try await rig.startScanning()
    let arguments = try readFile(rig.directory.file("scripted/arguments"))
    #expect(String(decoding: arguments, as: UTF8.self) == "--link 3 --device pcsc:\(Self.name)\n")
    await rig.reader.tap(.message(Samples.message))
    #expect(try await agent.taps.nextMessage() == Samples.message)
    await rig.reader.send(.waiting(reason: "gpg has the card"))
    try await rig.daemon.line(containing: "reader Scripted (pcsc:\(Self.name)) waits: gpg has the card")
    try rig.list("readers 0\n")
    try await rig.daemon.line(containing: "reader Scripted (pcsc:\(Self.name)) is gone")
    #expect(try await agent.property("Readers")?.asObjectPaths == [])
  }

  @Test func `the tags on a reader are forgotten when it leaves the list`() async throws {
    let directory = try TemporaryDirectory()
    let rig = try await Self.rig(environment: ["RUNTIME_DIRECTORY": directory.path])
    func known() throws -> String { String(decoding: try readFile(directory.file("known-tags")), as: UTF8.self) }
    let placement = Placement(number: 1, technology: .type2, uid: [4, 1, 2, 3, 4, 5, 6])
    await rig.reader.send(.known(placement), .log(.info, "knows a tag"))
    try await rig.daemon.line(containing: "knows a tag")
    #expect(try known().contains("reader pcsc:\(Self.name)\ntag "))
    try rig.list("readers 0\n")
    try await rig.daemon.line(containing: "is gone")
    #expect(try !known().contains("tag "))
  }

  @Test func `the agent that gets the taps makes the reader show itself, and no other program does`() async throws {
    let rig = try await Self.rig()
    let agent = try await rig.startScanning()
    let stranger = try await Connection.open(BusAddress(rig.bus.address), on: EventLoop(label: "stranger"))
    let refusal = await AgentDouble.errorName {
      _ = try await stranger.call(
        Names.Daemon.busName, ObjectPath(Names.Daemon.path), Names.Daemon.managerInterface, "IdentifyReaders",
        [.dictionary([:])])
    }
    #expect(refusal == Names.Errors.notAuthorized)
    try await agent.call("IdentifyReaders", [.dictionary([:])])
    for await command in rig.reader.commands where command == .identify { break }
  }

  @Test func `the backend libnfc ends the watch of pcscd and its readers`() async throws {
    let rig = try await Self.rig()
    try rig.directory.write("[Reader]\nBackend=libnfc\n[Scan]\nSessions=any\n", to: "tagroute.conf")
    rig.daemon.signal(SIGHUP)
    try await rig.daemon.line(containing: "changed: Backend")
    try await rig.daemon.line(containing: "reader Scripted (pcsc:\(Self.name)) is gone")
    try await rig.daemon.line(containing: "the watch has ended")
  }

  @Test func `the watch of pcscd ends with the daemon`() async throws {
    let rig = try await Self.rig()
    let watch = try #require(try rig.daemon.children().first { $0.commandLine.contains("--watch") })
    rig.daemon.signal(SIGKILL)
    try await watch.end()
  }

  @Test func `a problem of pcscd is logged, and libnfc's readers are used meanwhile`() async throws {
    let rig = try await DaemonRig(sessions: nil, devices: "", pcscList: "problem refused by polkit\n")
    try await rig.daemon.line(containing: "pcscd gives no list of readers: refused by polkit")
  }
}
