import Foundation
import Names
import TagrouteClient
import TestKit
import Testing

/// A finding in the output of `tagroute doctor --json`.
struct DoctorFinding: Decodable, Hashable {
  let subject: String
  let verdict: String
  let text: String
  let remedy: String?
  let command: String?
}

extension Desktop {
  /// Starts a desktop on which all checks of `tagroute doctor` pass.
  static func sound(
    starter: String = #function
  ) async throws -> (Desktop, NotificationServerStandIn, PolkitStandIn) {
    let desktop = try await Desktop(starter: starter)
    let polkit = try await desktop.startPolkit(alsoAllowing: [Names.PolkitAction.configure])
    let server = try await desktop.startWithServer()
    try await desktop.status(\.scanning)
    return (desktop, server, polkit)
  }

  /// Runs `tagroute doctor --json` on this desktop.
  ///
  /// - Parameters:
  ///   - variable: the variable of a bus address, to be set to a bus that does not exist.
  ///   - changes: more environment variables.
  ///   - program: a copy of `tagroute` to run instead.
  /// - Returns: the exit status and the findings.
  /// - Throws: `RigError` if the program does not run, `DecodingError` if its output is not a list of findings.
  func findings(
    without variable: String? = nil, _ changes: [String: String] = [:], program: String? = nil
  ) async throws -> (status: ChildProcess.ExitStatus, findings: [DoctorFinding]) {
    var environment = installation.environment.merging(changes) { _, changed in changed }
    if let variable { environment[variable] = "unix:path=\(installation.directory.file("nobody"))" }
    let result = try await ChildProcess.run(
      program ?? BuiltProducts.program("tagroute"), ["doctor", "--json"], environment: environment)
    return (result.status, try JSONDecoder().decode([DoctorFinding].self, from: Data(result.output.utf8)))
  }

  /// Runs `tagroute doctor --json` and returns the findings with the verdict `wrong`, by subject.
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
