import CShims
import Daemon
import Glibc
import Journal
import Names
import ReaderProtocol
import TestKit
import Testing

@testable import ReaderKit
@testable import ReaderSimulator

/// The privileges of a running process, as the kernel reports them.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct CardConfinementTests {
  private func lines(_ path: String) throws -> [String] {
    String(decoding: try readFile(path), as: UTF8.self).split(separator: "\n").map(String.init)
  }

  private func status(_ rig: CardReaderRig) async throws -> [String] {
    try lines("/proc/\(try #require(await rig.process.processID))/status")
  }

  @Test func `a process with a reader is confined, and so is each that follows it`() async throws {
    let rig = try await CardReaderRig.scanning()
    let (id, _) = try await rig.announces("https://example.com")
    for _ in 1...2 {
      let status = try await status(rig)
      #expect(status.contains("NoNewPrivs:\t1"))
      #expect(status.contains("Seccomp:\t2"))
      await rig.pcscd.kill()
      _ = try await rig.failed()
      try await rig.restartPCSCD()
      try await rig.expect(.scanning(true))
      try await rig.announcesNothing()
    }
    await rig.remove(id)
    // Every restriction is in force, unless the kernel lacks it.
    #expect(rig.logged.contains { $0.hasPrefix("confined: ") && $0.contains("system calls") })
    for case .log(.notice, let line) in rig.seen where line.hasPrefix("some restrictions") {
      #expect(!hasLandlock || !line.contains("Landlock"), "\(line)")
    }
  }

  /// The process of a reader cannot be read or traced by other processes of its user.
  @Test func `the process leaves no core dump and cannot be read`() async throws {
    let rig = try await CardReaderRig.scanning()
    let child = try #require(await rig.process.processID)
    let cores = try #require(try lines("/proc/\(child)/limits").first { $0.hasPrefix("Max core file size") })
    #expect(cores.split(separator: " ").suffix(3) == ["0", "0", "bytes"])
    var information = stat()
    #expect(stat("/proc/\(child)/environ", &information) == 0)
    #expect(information.st_uid == 0, "the process can be dumped")
  }

  /// The daemon's link, and one connection to pcscd for each of the two threads.
  @Test(.enabled(if: geteuid() == 0, "needs root: the process cannot be read by its own user"))
  func `the process has no open socket and no open file that it does not need`() async throws {
    let rig = try await CardReaderRig.scanning(.acr1552U)
    try await rig.announces("https://example.com")
    let child = try #require(await rig.process.processID)
    let folder = "/proc/\(child)/fd"
    // Standard error is that of the test.
    let names = try #require(fileNames(in: folder)).filter { $0 != "2" }
    let targets = names.compactMap { target(of: "\(folder)/\($0)") }
    #expect(targets.count { $0.hasPrefix("socket:") } == 3, "\(targets)")
    let others = targets.filter { !$0.hasPrefix("socket:") && !$0.hasPrefix("pipe:") }
    #expect(others.allSatisfy { ["/dev/null", "anon_inode:inotify"].contains($0) }, "\(others)")
  }

  private func target(of path: String) -> String? {
    var bytes = [CChar](repeating: 0, count: 1024)
    let count = readlink(path, &bytes, bytes.count)
    return count > 0 ? String(decoding: bytes.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
  }
}

/// The privileges that a process with pcscd keeps.
@Suite struct CardPlanTests {
  typealias Plan = ConfinementPlan

  private static func rules(_ use: Plan.PCSCDUse) -> [SystemCallPolicy.Rule] {
    SystemCallPolicy(Plan(use, Plan.Circumstances(hasLibusb1: true)), process: 42).rules
  }

  @Test(arguments: Plan.PCSCDUse.allCases) func `no file and no device is opened`(use: Plan.PCSCDUse) {
    let plan = Plan(use, Plan.Circumstances(hasLibusb1: true))
    #expect(plan.files == [] && plan.kinds == [] && !plan.usesLibusb1)
    #expect(Self.rules(use).count { $0.call == "ioctl" } == 1)
  }

  @Test(arguments: Plan.PCSCDUse.allCases) func `threads are allowed, and no processes`(use: Plan.PCSCDUse) {
    let plan = Plan(use, Plan.Circumstances())
    #expect(plan.startsThreads && !plan.limits.contains(.processes(0)))
    #expect(plan.limits.contains(.addressSpace(1 << 30)) && plan.limits.contains(.openFiles(64)))
    let clone = Self.rules(use).filter { $0.call == "clone" }
    #expect(clone.map(\.verdict).contains(.allow) && clone.map(\.verdict).contains(.kill))
    #expect(clone.allSatisfy { $0.conditions.count == 1 })
    for call in ["fork", "vfork", "execve", "ptrace", "kill"] {
      #expect(Self.rules(use).filter { $0.call == call } == [SystemCallPolicy.Rule(.kill, call)])
    }
  }

  /// A process that may connect to pcscd may also connect to the system bus. So only the one that handles no card may.
  @Test func `a process with cards makes no socket`() {
    for call in ["socket", "connect", "bind"] {
      #expect(Self.rules(.cards).filter { $0.call == call } == [SystemCallPolicy.Rule(.kill, call)])
    }
    #expect(!Self.rules(.cards).contains { $0.call.hasPrefix("inotify") && $0.verdict == .allow })
  }

  @Test func `a process that lists readers makes local sockets alone`() {
    let sockets = Self.rules(.list).filter { $0.call == "socket" }
    #expect(
      sockets == [
        SystemCallPolicy.Rule(.allow, "socket", .equal(argument: 0, UInt64(AF_UNIX)), .equal(argument: 2, 0))
      ])
    #expect(Self.rules(.list).filter { $0.call == "connect" } == [SystemCallPolicy.Rule(.allow, "connect")])
    #expect(Self.rules(.list).filter { $0.call == "bind" } == [SystemCallPolicy.Rule(.kill, "bind")])
  }

  @Test(arguments: Plan.PCSCDUse.allCases) func `no call has a wider rule beside a narrow one`(use: Plan.PCSCDUse) {
    let rules = Self.rules(use)
    let unconditional = rules.filter(\.conditions.isEmpty).map(\.call)
    #expect(Set(unconditional).count == unconditional.count)
    for rule in rules where !rule.conditions.isEmpty { #expect(!unconditional.contains(rule.call), "\(rule.call)") }
  }
}

/// Operations that a compromised reader process might try, tried in the real process. The outcome before the process
/// confines itself has to differ from the outcome after that.
@Suite(.timeLimit(.minutes(5))) struct CardAttemptTests {
  @Test(arguments: Attempt.whatNoReaderNeeds, Attempt.Role.allCases)
  func `an operation that no reader needs is blocked`(attempt: Attempt, role: Attempt.Role) async throws {
    try await check(attempt, role)
  }

  @Test(.enabled(if: hasLandlock, noLandlock), arguments: Attempt.filesOfOthers, Attempt.Role.allCases)
  func `the process cannot open any file`(attempt: Attempt, role: Attempt.Role) async throws {
    try await check(attempt, role)
  }

  /// The process has its connections to pcscd already. It can reach no other socket, such as the system bus.
  @Test(arguments: ["local socket", "internet socket", "netlink socket", "route socket", "connect"])
  func `a process with a reader cannot open a socket`(name: String) async throws {
    try await check(.killed(name), .serve)
  }

  /// It connects to pcscd again after that was restarted.
  @Test func `a process that lists readers can open local sockets, and no others`() async throws {
    let local = Attempt(name: "local socket", outcome: .done)
    #expect(try await local(isConfined: true, as: .list) == .done)
    for name in ["internet socket", "netlink socket", "route socket"] { try await check(.unknown(name), .list) }
  }

  /// Each of its calls to pcscd blocks, so it needs threads.
  @Test(arguments: Attempt.Role.allCases) func `the process can start threads`(role: Attempt.Role) async throws {
    #expect(try await Attempt(name: "thread", outcome: .done)(isConfined: true, as: role) == .done)
  }

  @Test(arguments: Attempt.Role.allCases)
  func `the process cannot change a directory of the user`(role: Attempt.Role) async throws {
    let directory = try TemporaryDirectory()
    let file = try directory.write("x", to: "file")
    for attempt in [Attempt.unknown("remove", file), .unknown("link", directory.file("link"))] {
      #expect(try await attempt(isConfined: true, as: role) == attempt.outcome)
      #expect(try await attempt(isConfined: false, as: role) == .done)
    }
  }

  @Test(
    .enabled(if: tagroute_is_sanitized() == 0, "a sanitizer has its own signal handlers"),
    arguments: [("crash", SIGSEGV), ("abort", SIGABRT)])
  func `a crash ends the confined process by its signal`(attempt: String, signal: Int32) async throws {
    for role in Attempt.Role.allCases {
      let outcome = Attempt.Outcome.killed(signal)
      #expect(try await Attempt(name: attempt, outcome: outcome)(isConfined: true, as: role) == outcome)
    }
  }

  /// A process that prints no outcome has not tried the operation.
  @Test(arguments: ["nothing said", "an attempt that there is not"])
  func `an operation that was not tried does not pass as done`(name: String) async {
    for isConfined in [false, true] {
      await #expect(throws: RigError.self) {
        try await Attempt(name: name, outcome: .done)(isConfined: isConfined, as: .serve)
      }
    }
  }

  private func check(
    _ attempt: Attempt, _ role: Attempt.Role, at location: SourceLocation = #_sourceLocation
  ) async throws {
    try await attempt.check(at: location) { try await attempt(isConfined: $0, as: role) }
  }
}
