import Glibc
import TestRig
import Testing

/// An operation that a test makes a reader process try, and the expected outcome in a confined process.
struct Attempt: Sendable, CustomTestStringConvertible {
  enum Outcome: Hashable {
    case done
    /// The name of an error in errno(3).
    case error(String)
    case killed(Int32)
  }

  let name: String
  var subject = ""
  let outcome: Outcome
  /// Whether the process loads libusb 1.
  var hasLibusb1 = false
  /// The kernel feature to hide, by its name in `attempts.c`.
  var lack = ""
  /// The testbed that provides the devices; nil for the devices of the machine.
  var testbed: DeviceTestbed?

  var testDescription: String { "\(name) \(subject)" }

  static func killed(_ name: String) -> Self { Self(name: name, outcome: .killed(SIGSYS)) }
  static func unknown(_ name: String, _ subject: String = "") -> Self {
    Self(name: name, subject: subject, outcome: .error("ENOSYS"))
  }
  static func refused(_ name: String, _ subject: String = "") -> Self {
    Self(name: name, subject: subject, outcome: .error("EPERM"))
  }
  static func withoutFile(_ name: String, _ subject: String) -> Self {
    Self(name: name, subject: subject, outcome: .error("EACCES"))
  }

  /// Tries the operation in the real `tagroute-reader`.
  ///
  /// - Parameters:
  ///   - isConfined: whether the process tries it after it has confined itself, rather than before.
  ///   - device: the connection string that the process is confined for; nil to search for readers.
  /// - Returns: the outcome.
  /// - Throws: `RigError` if the process does not show that it tried the operation.
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
    switch (ended.status, ended.output.split(separator: "\n").last) {
    case (.signalled(let number), _): return .killed(number)
    case (.exited(0), "done"): return .done
    case (.exited(0), let word?) where word.hasPrefix("E"): return .error(String(word))
    case (.exited(let code), _):
      throw RigError("\(name) \(subject): not tried; the process exited with code \(code): \(ended.log)")
    }
  }

  /// The environment of a process that seems to run on a kernel without a feature.
  ///
  /// - Parameter lack: the feature, by its name in `attempts.c`.
  /// - Returns: the whole environment.
  /// - Throws: `RigError` if `attempts.c` cannot be compiled.
  static func environment(lacking lack: String) async throws -> [String: String] {
    ["LD_PRELOAD": try await library.value, "LACKING": lack]
  }

  /// The directory of the compiled libraries. It is removed when the test process ends.
  private static let folder: Result<TemporaryDirectory, any Error> = Result {
    let folder = try TemporaryDirectory()
    atexit {
      guard let folder = try? Attempt.folder.get() else { return }
      for name in ["attempts.so", "attempts-libusb1.so"] { unlink(folder.file(name)) }
      rmdir(folder.path)
    }
    return folder
  }

  /// The library that is loaded into the process, compiled once.
  private static let library = Task { try await compile("attempts.so") }
  private static let libraryWithLibusb1 = Task {
    try await compile("attempts-libusb1.so", "-DHAS_LIBUSB1", "-l:libusb-1.0.so.0")
  }

  private static func compile(_ name: String, _ options: String...) async throws -> String {
    let source = #filePath.split(separator: "/").dropLast().map { "/\($0)" }.joined() + "/attempts.c"
    let library = try folder.get().file(name)
    // Always installed, because Swift itself links with it.
    let compiler = try BuiltProducts.systemProgram("clang", package: "clang")
    let ended = try await ChildProcess.run(
      compiler, ["-shared", "-fPIC", "-Wall", "-Werror", "-o", library, source] + options)
    guard ended.status == .exited(0) else { throw RigError("\(source): \(ended.log)") }
    return library
  }
}
