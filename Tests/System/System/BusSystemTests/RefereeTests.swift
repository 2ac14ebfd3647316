import TestKit
import Testing

@testable import Bus

/// Compares arguments and replies of each type with busctl, which is another implementation.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct RefereeTests {
  @Test(arguments: [
    ["y", "7"], ["b", "true"], ["n", "-3"], ["q", "3"], ["i", "-70000"], ["u", "70000"], ["x", "-5000000000"],
    ["t", "5000000000"], ["d", "1.5"], ["s", "\"text\""], ["o", "\"/a/b\""], ["g", "\"a{sv}\""], ["ay", "3 1 2 3"],
    ["as", "2 \"a\" \"b\""], ["a{sv}", "1 \"k\" u 1"], ["(si)", "\"a\" 1"], ["v", "s \"in\""], ["aay", "2 1 7 0"],
    ["a{s(ib)}", "1 \"k\" -1 false"], ["a(yy)", "2 1 2 3 4"],
  ])
  func `busctl reads back the value that it wrote`(_ test: [String]) async throws {
    let signature = try Signature(test[0])
    let fixture = try await BusFixture.start(
      ExportedMethod("Echo", in: [Argument("value", signature)], out: [Argument("value", signature)]) { $1.arguments })
    let words = test[1].split(separator: " ").map { $0.filter { $0 != "\"" } }
    let program = try BuiltProducts.systemProgram("busctl", package: "systemd")
    let result = try await ChildProcess.run(
      program,
      [
        "--address=\(fixture.bus.address)", "call", "--", BusFixture.name, BusFixture.path.string,
        BusFixture.interface, "Echo", test[0],
      ] + words)
    #expect(result.output == "\(test[0]) \(test[1])\n", "\(result.log)")
  }
}
