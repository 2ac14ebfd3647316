import Foundation
import Names
import TagrouteClient
import TestSupport
import Testing

/// What `tagroute doctor --json` says of a thing.
struct DoctorFinding: Decodable, Hashable {
  let subject: String
  let verdict: String
  let text: String
  let remedy: String?
  let command: String?
}

extension Desktop {
  /// Everything there and in order.
  static func sound(
    starter: String = #function
  ) async throws -> (Desktop, NotificationServerStandIn, PolkitStandIn) {
    let desktop = try await Desktop(starter: starter)
    let polkit = try await PolkitStandIn.start(
      on: desktop.systemBus,
      allowing: [
        Names.PolkitAction.configure, Names.PolkitAction.inhibit, Names.PolkitAction.readTags,
        Names.PolkitAction.writeTags,
      ])
    let server = try await desktop.startServer()
    try await desktop.start()
    try await desktop.status(\.scanning)
    return (desktop, server, polkit)
  }

  /// What `tagroute doctor` says here.
  ///
  /// - Parameters:
  ///   - variable: an address of a bus that is not to be there.
  ///   - changes: more variables.
  ///   - program: a copy of `tagroute` to ask instead.
  /// - Returns: how it ended, and its findings.
  /// - Throws: `RigError` where it does not run, `DecodingError` where it prints something else.
  func findings(
    without variable: String? = nil, _ changes: [String: String] = [:], program: String? = nil
  ) async throws -> (status: ChildProcess.ExitStatus, findings: [DoctorFinding]) {
    var environment = installation.environment.merging(changes) { _, changed in changed }
    if let variable { environment[variable] = "unix:path=\(installation.directory.file("nobody"))" }
    let result = try await ChildProcess.run(
      program ?? BuiltProducts.program("tagroute"), ["doctor", "--json"], environment: environment)
    return (result.status, try JSONDecoder().decode([DoctorFinding].self, from: Data(result.output.utf8)))
  }

  /// What of it is wrong, by subject.
  func wrong(
    without variable: String? = nil, _ changes: [String: String] = [:], program: String? = nil
  ) async throws -> [String: DoctorFinding] {
    let (status, findings) = try await findings(without: variable, changes, program: program)
    let wrong = findings.filter { $0.verdict == "wrong" }
    #expect(status == .exited(wrong.isEmpty ? 0 : 1))
    for finding in wrong { #expect(finding.remedy?.isEmpty == false, "\(finding)") }
    return Dictionary(wrong.map { ($0.subject, $0) }) { first, _ in first }
  }
}
