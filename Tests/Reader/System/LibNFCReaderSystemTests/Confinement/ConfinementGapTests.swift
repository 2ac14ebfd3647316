import Daemon
import Glibc
import Journal
import Names
import ReaderProtocol
import ReaderSimulator
import TestKit
import Testing

@testable import LibNFCReaderTests

@testable import LibNFCReader
@testable import ReaderKit

/// The real reader process on a kernel that lacks a confinement feature. A filter makes the kernel appear to lack it.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct ConfinementGapTests {
  /// The kernel could filter the system calls, but refuses to. A tag must not reach such an unfiltered process.
  @Test(arguments: ["permission to filter", "no new privileges"])
  func `no device is opened if the kernel refuses to filter system calls`(lack: String) async throws {
    let rig = try await ReaderRig(environment: try await environment(lacking: lack))
    await rig.setScanning(true)
    let reason = try await rig.next("a reader that has failed") { event in
      if case .phase(.failed(let reason), _) = event { reason } else { nil }
    }
    #expect(reason.contains("cannot filter its system calls"))
    #expect(await rig.simulator.counters.commands == 0)
  }

  @Test func `no reader is searched for if the kernel refuses to filter system calls`() async throws {
    let ended = try await ChildProcess.run(
      try BuiltProducts.program("tagroute-reader"), ["--list"],
      environment: try await Attempt.environment(lacking: "permission to filter"))
    #expect(ended.status == .exited(Names.ExitCode.failure))
    // The library that replaces libnfc's search would print a line.
    #expect(ended.output.isEmpty)
    #expect(ended.log.contains { $0.contains("cannot filter its system calls") })
  }

  /// The reader works without the missing restriction.
  @Test(arguments: [
    ("filters", "system calls", "the kernel does not support system call filters"),
    ("Landlock", "Landlock", "the kernel does not support Landlock"),
    ("permission for Landlock", "Landlock", "no Landlock: the container or an outer system call filter"),
    ("new limits", "limits", "limit 4: Operation not permitted"),
    ("closed memory", "closed memory", "can read its memory"),
  ])
  func `the log names a missing restriction and does not claim that it is in force`(
    lack: String, part: String, gap: String
  ) async throws {
    let whole = try await summary(of: try await ReaderRig(environment: try await environment(lacking: "nothing")))
    if part != "Landlock" || hasLandlock { #expect(whole.contains(part)) }
    let rig = try await ReaderRig(environment: try await environment(lacking: lack))
    var lines: [String] = []
    try await rig.next("a reader that is ready") { event in
      if case .log(_, let line) = event { lines.append(line) }
      return if case .phase(.ready, _) = event { true } else { nil }
    }
    let notice = try #require(lines.first { $0.hasPrefix("some restrictions are not in force: ") })
    #expect(notice.contains(gap))
    let summary = try #require(lines.first { $0.hasPrefix("confined: ") })
    // All other restrictions are in force.
    let others = whole.split(separator: ": ").last?.split(separator: ", ").filter { !$0.contains(part) } ?? []
    #expect(summary == "confined: " + others.joined(separator: ", "))
  }

  /// An old libseccomp may not support a rule. All other rules have to be in force.
  @Test func `a rule that libseccomp rejects does not drop the others`() async throws {
    // A thread of libdispatch may make a refused call and abort before the call below. The filter has caused any
    // abnormal end.
    await #expect(processExitsWith: .failure) {
      _ = Confinement.begin()
      let policy = SystemCallPolicy(ConfinementPlan(device: "pn532_uart:/dev/x", .own), process: getpid())
      // A call has six arguments.
      let rules = [SystemCallPolicy.Rule(.allow, "ioctl", .equal(argument: 6, 0))] + policy.rules
      guard case .inForce(let missing) = SystemCallFilter.apply(SystemCallPolicy(rules: rules)) else { _exit(0) }
      guard missing.count == 1, missing[0].hasPrefix("ioctl: ") else { _exit(0) }
      _ = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      _exit(0)
    }
  }

  private func environment(lacking lack: String) async throws -> [String] {
    try await Attempt.environment(lacking: lack).map { "\($0.key)=\($0.value)" }
  }

  private func summary(of rig: ReaderRig) async throws -> String {
    let line = try await rig.next("the summary of the confinement") { event in
      if case .log(.debug, let line) = event, line.hasPrefix("confined: ") { line } else { nil }
    }
    await rig.stop()
    return line
  }
}
