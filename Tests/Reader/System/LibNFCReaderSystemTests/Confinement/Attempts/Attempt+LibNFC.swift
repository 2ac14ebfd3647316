import TestKit

extension Attempt {
  /// Tries the operation in the real `tagroute-reader`, before or after it has confined itself. `device` is the
  /// connection string that the process is confined for; nil to search for readers. Throws `RigError` if the process
  /// does not show that it tried the operation.
  func callAsFunction(isConfined: Bool, device: String?) async throws -> Outcome {
    let library = try await (hasLibusb1 ? Self.libraryWithLibusb1 : Self.library).value
    let others = testbed?.environment ?? [:]
    // The functions of the first library take precedence.
    let libraries = [library, others["LD_PRELOAD"]].compactMap(\.self).joined(separator: ":")
    let ended = try await ChildProcess.run(
      try BuiltProducts.program("tagroute-reader"), ["--list"] + (device.map { ["--device", $0] } ?? []),
      environment: others.merging([
        "LD_PRELOAD": libraries, "ATTEMPT": name, "SUBJECT": subject, "ATTEMPT_WHEN": isConfined ? "after" : "before",
        "LACKING": lack,
      ]) { $1 })
    if case .signalled(let number) = ended.status { return .killed(number) }
    guard ended.status == .exited(0), let outcome = Outcome(printed: ended.output) else {
      throw RigError("\(name) \(subject): not tried; \(ended.status): \(ended.log)")
    }
    return outcome
  }

  /// The environment of a process that seems to run on a kernel without this feature of `attempts.c`.
  static func environment(lacking lack: String) async throws -> [String: String] {
    ["LD_PRELOAD": try await library.value, "LACKING": lack]
  }

  /// The library that is loaded into the process, compiled once.
  private static let library = Task { try await compile(source, to: "attempts.so") }
  private static let libraryWithLibusb1 = Task {
    try await compile(source, to: "attempts-libusb1.so", "-DHAS_LIBUSB1", "-l:libusb-1.0.so.0")
  }
  private static let source = #filePath.split(separator: "/").dropLast().map { "/\($0)" }.joined() + "/attempts.c"
}
