import Bus
import TestKit
import Testing

/// The completions that bash offers from the answers of the real program. `Packaging/check-completions` tests the rest
/// with a stand-in, in each shell.
@Suite(.timeLimit(.minutes(5))) struct CompletionTests {
  private func completed(
    _ words: [String], on doubles: BusOfDoubles?, starter: String = #function
  ) async throws -> (output: String, log: [String]) {
    let script = """
      source \(repositoryRoot)/Config/completions/tagroute
      COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
      _tagroute
      printf '%s\\n' "${COMPREPLY[@]}"
      """
    let program = try BuiltProducts.program("tagroute")
    let folder = program.dropLast("/tagroute".count)
    // This `timeout` sets no limit, so that a slow machine does not fail the test.
    let directory = try TemporaryDirectory()
    try directory.write("#!/bin/sh\nshift\nexec \"$@\"\n", to: "bin/timeout", mode: 0o755)
    let address = doubles?.address ?? "unix:path=/nonexistent/bus"
    let result = try await ChildProcess.run(
      "/bin/bash", ["--norc", "--noprofile", "-c", script, "bash"] + words,
      environment: [
        "PATH": "\(directory.file("bin")):\(folder):/usr/bin:/bin", "DBUS_SYSTEM_BUS_ADDRESS": address,
        "DBUS_SESSION_BUS_ADDRESS": address,
      ], starter: starter)
    let lines = Set(result.output.split(separator: "\n").map(String.init))
    return (result.output, result.log.filter { !lines.contains($0) && !$0.isEmpty })
  }

  @Test func `bash completes the readers and handlers that the program lists`() async throws {
    let doubles = try await BusOfDoubles(daemon: true, agent: true)
    #expect(try await completed(["tagroute", "read", "--reader", ""], on: doubles).output == "1\n")
    let apps = try await completed(["tagroute", "handlers", "prefer", "org"], on: doubles)
    #expect(apps.output == "org.example.Menu.desktop\n")
  }

  @Test(arguments: [["handlers", "prefer", ""], ["inbox", "show", ""], ["read", "--reader", ""]])
  func `completion prints no error if the daemon and the agent do not answer`(_ words: [String]) async throws {
    let result = try await completed(["tagroute"] + words, on: nil)
    #expect(result.log.isEmpty, "\(result.log)")
    #expect(!result.output.contains(".desktop"))
  }
}
