import CShims
import Glibc
import TestRig
import Testing

let hasLandlock = tagroute_landlock_version() > 0
let noLandlock: Comment = "this kernel has no Landlock, which restricts files"

/// Operations that a compromised reader process might try, tried in the real process. The outcome before the process
/// confines itself has to differ from the outcome after that.
@Suite(.timeLimit(.minutes(5))) struct CardAttemptTests {
  private static let whatNoReaderNeeds: [CardAttempt] = [
    // Other programs and processes.
    .killed("fork"), .killed("clone"), .unknown("clone3"), .killed("execute"), .killed("execute memory"),
    .killed("execute descriptor"), .killed("trace"), .killed("read parent"), .killed("signal parent"),
    .killed("signal parent's thread"),
    // Signals that the kernel would send to other processes on request.
    .killed("owner"), .killed("owning thread"), .killed("owner's signal"), .killed("asynchronous"),
    .unknown("asynchronous request"),
    // The machine, another user, and complex parts of the kernel.
    .killed("mount"), .killed("namespace"), .killed("user"), .unknown("dumpable"), .killed("ring"),
    .killed("page faults"), .killed("keys"), .killed("bpf"), .killed("performance events"),
    // Code and memory.
    .refused("executable memory"), .refused("made executable"), .refused("shared memory"), .refused("limits"),
    CardAttempt(name: "addresses", outcome: .error("ENOMEM")),
    CardAttempt(name: "descriptors", outcome: .error("EMFILE")),
    // New files.
    .unknown("create", "/dev/shm/tagroute-card-attempt"), .unknown("nameless file", "/tmp"),
    .unknown("truncate what is open"),
  ]

  private static let filesOfOthers: [CardAttempt] = [
    .withoutFile("read", "/etc/passwd"), .withoutFile("list", "/home"), .withoutFile("list", "/"),
    .withoutFile("read", "/proc/1/cmdline"), .withoutFile("read", "/proc/self/fd/0"),
    .withoutFile("read", "/dev/urandom"), .withoutFile("write", "/dev/null"), .withoutFile("open device", "/dev/ptmx"),
    .withoutFile("list", "/run"),
  ]

  @Test(arguments: whatNoReaderNeeds, CardAttempt.Role.allCases)
  func `an operation that no reader needs is blocked`(attempt: CardAttempt, role: CardAttempt.Role) async throws {
    if attempt.name == "addresses", tagroute_is_sanitized() != 0 { return }
    try await check(attempt, role)
    if attempt.name == "create" { unlink(attempt.subject) }
  }

  @Test(.enabled(if: hasLandlock, noLandlock), arguments: filesOfOthers, CardAttempt.Role.allCases)
  func `the process cannot open any file`(attempt: CardAttempt, role: CardAttempt.Role) async throws {
    try await check(attempt, role)
  }

  /// The process has its connections to pcscd already. It can reach no other socket, such as the system bus.
  @Test(arguments: ["local socket", "internet socket", "netlink socket", "route socket", "connect"])
  func `a process with a reader cannot open a socket`(name: String) async throws {
    try await check(.killed(name), .serve)
  }

  /// It connects to pcscd again after that was restarted.
  @Test func `a process that lists readers can open local sockets, and no others`() async throws {
    let local = CardAttempt(name: "local socket", outcome: .done)
    #expect(try await local(isConfined: true, as: .list) == .done)
    for name in ["internet socket", "netlink socket", "route socket"] { try await check(.unknown(name), .list) }
  }

  /// Each of its calls to pcscd blocks, so it needs threads.
  @Test(arguments: CardAttempt.Role.allCases) func `the process can start threads`(role: CardAttempt.Role) async throws
  {
    #expect(try await CardAttempt(name: "thread", outcome: .done)(isConfined: true, as: role) == .done)
  }

  @Test(arguments: CardAttempt.Role.allCases)
  func `the process cannot change a directory of the user`(role: CardAttempt.Role) async throws {
    let directory = try TemporaryDirectory()
    let file = try directory.write("x", to: "file")
    for attempt in [CardAttempt.unknown("remove", file), .unknown("link", directory.file("link"))] {
      #expect(try await attempt(isConfined: true, as: role) == attempt.outcome)
      #expect(try await attempt(isConfined: false, as: role) == .done)
    }
  }

  @Test(
    .enabled(if: tagroute_is_sanitized() == 0, "a sanitizer has its own signal handlers"),
    arguments: [("crash", SIGSEGV), ("abort", SIGABRT)])
  func `a crash ends the confined process by its signal`(attempt: String, signal: Int32) async throws {
    for role in CardAttempt.Role.allCases {
      let outcome = CardAttempt.Outcome.killed(signal)
      #expect(try await CardAttempt(name: attempt, outcome: outcome)(isConfined: true, as: role) == outcome)
    }
  }

  /// A process that prints no outcome has not tried the operation.
  @Test(arguments: ["nothing said", "an attempt that there is not"])
  func `an operation that was not tried does not pass as done`(name: String) async {
    for isConfined in [false, true] {
      await #expect(throws: RigError.self) {
        try await CardAttempt(name: name, outcome: .done)(isConfined: isConfined, as: .serve)
      }
    }
  }

  private func check(
    _ attempt: CardAttempt, _ role: CardAttempt.Role, at location: SourceLocation = #_sourceLocation
  ) async throws {
    let before = try await attempt(isConfined: false, as: role)
    let after = try await attempt(isConfined: true, as: role)
    #expect(after == attempt.outcome, "\(attempt.name) \(attempt.subject)", sourceLocation: location)
    #expect(before != after, "the outcome is the same before the process confines itself", sourceLocation: location)
  }
}
