import CShims
import Glibc
import TestKit
import Testing

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
