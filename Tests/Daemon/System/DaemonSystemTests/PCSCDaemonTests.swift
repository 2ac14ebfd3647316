import Bus
import EventLoop
import Glibc
import Journal
import Names
import ReaderProtocol
import TestKit
import Testing

@testable import Daemon
@testable import DaemonTests

/// The real `tagrouted` with a stand-in for `tagroute-reader-pcsc`, on a system without udev.
@Suite(.timeLimit(.minutes(5))) struct PCSCDaemonTests {
  private static let name = "Scripted NFC [CL] 00 00"
  private static let readyLine = "reader Scripted (pcsc:\(name)) is ready"

  private static func rig(environment: [String: String] = [:]) async throws -> DaemonRig {
    try await DaemonRig(
      sessions: nil, devices: "", pcscList: .readers([PCSCReader(name: name)]), environment: environment,
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
    try rig.list(.readers([]))
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
    try rig.list(.readers([]))
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
    let watch = try #require(try rig.daemon.children().first { $0.commandLine.contains("--list") })
    rig.daemon.signal(SIGKILL)
    try await watch.end()
  }

  @Test func `a problem of pcscd is logged, and libnfc's readers are used meanwhile`() async throws {
    let rig = try await DaemonRig(sessions: nil, devices: "", pcscList: .problem(PCSCProblem(.refused, "by polkit")))
    try await rig.daemon.line(containing: "pcscd gives no list of readers: refused by polkit")
  }
}

/// Runs scripts in the place of the process that lists pcscd's readers.
@Suite(.timeLimit(.minutes(5))) struct PCSCWatchTests {
  let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
    try write(.readers([]), to: "empty")
  }

  /// Writes lists to a file, for scripts to send.
  private func write(_ lists: ReaderList..., to name: String) throws {
    try directory.write(lists.flatMap(\.frame), to: name)
  }

  private func watch(_ script: String) async throws -> PCSCWatch {
    let program = try directory.write("#!/bin/sh\ncd \(directory.path)\n\(script)\n", to: "reader", mode: 0o755)
    let watch = PCSCWatch(program: program, environment: ["PATH=/usr/bin:/bin"], on: EventLoop(label: "daemon"))
    await watch.start()
    return watch
  }

  private func events(_ count: Int, of watch: PCSCWatch) async -> [PCSCWatch.Event] {
    var events: [PCSCWatch.Event] = []
    for await event in watch.events {
      events.append(event)
      if events.count == count { break }
    }
    return events
  }

  /// Waits for as long as the link stays open, as the real program does.
  private let waiting = "cat <&3 >/dev/null"

  @Test func `each list and each problem is reported`() async throws {
    let reader = PCSCReader(
      name: "ACS ACR122U 00 00", identity: .init(vendor: 0x072F, product: 0x2200), place: .init(bus: 1, number: 4))
    let problem = PCSCProblem(.refused, "no")
    try write(.readers([]), .problem(problem), .readers([reader]), to: "lists")
    let watch = try await watch("cat lists >&3; \(waiting)")
    #expect(await events(3, of: watch) == [.readers([]), .problem(problem), .readers([reader])])
    await watch.stop()
  }

  @Test func `the process gets its arguments and a link, and ends with it`() async throws {
    let watch = try await watch("echo \"$@\" >arguments; cat empty >&3; \(waiting); echo ended >end; exit 0")
    #expect(await events(1, of: watch) == [.readers([])])
    await watch.stop()
    #expect(String(decoding: try readFile(directory.file("arguments")), as: UTF8.self) == "--list --link 3\n")
    #expect(String(decoding: try readFile(directory.file("end")), as: UTF8.self) == "ended\n")
  }

  @Test func `a process that ends in order has a successor, and that is no problem`() async throws {
    let problem = PCSCProblem(.noService, "gone")
    try write(.problem(problem), to: "gone")
    let watch = try await watch(
      "if mkdir first 2>/dev/null; then cat gone >&3; exit 0; fi; cat empty >&3; \(waiting)")
    #expect(await events(2, of: watch) == [.problem(problem), .readers([])])
    await watch.stop()
  }

  @Test func `a process that fails is a problem, and has a successor`() async throws {
    let watch = try await watch("if mkdir first 2>/dev/null; then exit 3; fi; cat empty >&3; \(waiting)")
    let failure = "\(directory.file("reader")) --list exited with code 3"
    #expect(await events(2, of: watch) == [.problem(PCSCProblem(.other, failure)), .readers([])])
    await watch.stop()
  }

  @Test(arguments: [
    ("echo hello >&3", "sent a frame of 1751477356 bytes"), ("cat devices >&3", "sent a list of libnfc's devices"),
    ("while cat empty; do :; done >&3", "sent lists without end"), ("exec 3>&-; exec sleep 1000", "closed its link"),
  ])
  func `a process that breaks the rules is killed, and has a successor`(script: String, cause: String) async throws {
    try write(.devices([]), to: "devices")
    let watch = try await watch(
      "if mkdir first 2>/dev/null; then \(script); exec sleep 1000; fi; cat empty >&3; \(waiting)")
    let expected = PCSCProblem(.other, "\(directory.file("reader")) --list \(cause)")
    for await event in watch.events where event == .problem(expected) { break }
    for await event in watch.events where event == .readers([]) { break }
    await watch.stop()
  }

  @Test func `a missing program is a problem`() async throws {
    let program = directory.file("missing")
    let watch = PCSCWatch(program: program, environment: [], on: EventLoop(label: "daemon"))
    await watch.start()
    let expected = PCSCProblem(.other, "cannot start \(program): No such file or directory")
    #expect(await events(1, of: watch) == [.problem(expected)])
    await watch.stop()
  }

  @Test func `a new reader ends the pause before a restart`() async throws {
    // polkit refuses each process, so the pause before the next one is the longest. It begins with the second event.
    try write(.problem(PCSCProblem(.refused)), to: "refused")
    let watch = try await watch("cat refused >&3; exit 3")
    let failure = PCSCProblem(.other, "\(directory.file("reader")) --list exited with code 3")
    let expected: [PCSCWatch.Event] = [.problem(PCSCProblem(.refused)), .problem(failure)]
    #expect(await events(2, of: watch) == expected)
    await watch.retryAtOnce()
    #expect(await events(2, of: watch) == expected)
    await watch.stop()
  }

  @Test func `a process that ignores the end of its link is killed`() async throws {
    let watch = try await watch("trap '' TERM INT HUP; cat empty >&3; exec sleep 1000")
    #expect(await events(1, of: watch) == [.readers([])])
    await watch.stop()
  }
}
