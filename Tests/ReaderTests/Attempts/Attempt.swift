import Glibc
import Rig
import TestSupport
import Testing

/// What a process is made to try, from inside, and how that has to end once it is confined.
struct Attempt: Sendable, CustomTestStringConvertible {
  enum Outcome: Hashable {
    case done
    /// The name of an error of errno(3).
    case error(String)
    case killed(Int32)
  }

  let name: String
  var subject = ""
  let outcome: Outcome
  /// Whether the process has libusb 1.
  var hasLibusb1 = false
  /// What the kernel is to be without, by its name in `attempts.c`.
  var lack = ""
  /// In whose devices it is tried; nil for those of the machine.
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

  /// Tries it in the real `tagroute-reader`.
  ///
  /// - Parameters:
  ///   - isConfined: after it has confined itself; otherwise before.
  ///   - device: the connection string that it is confined for; nil looks for readers.
  /// - Returns: how it ended.
  /// - Throws: `RigError` where it was not tried, as far as can be seen.
  func callAsFunction(isConfined: Bool, device: String?) async throws -> Outcome {
    let library = try await (hasLibusb1 ? Self.libraryWithLibusb1 : Self.library).value
    let others = testbed?.environment ?? [:]
    // The first one's functions count.
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
      throw RigError("\(name) \(subject): it was not tried; exited with code \(code): \(ended.log)")
    }
  }

  /// The environment of a process whose kernel lacks something.
  ///
  /// - Parameter lack: what, by its name in `attempts.c`.
  /// - Returns: all of it.
  /// - Throws: `RigError` where `attempts.c` cannot be compiled.
  static func environment(lacking lack: String) async throws -> [String: String] {
    ["LD_PRELOAD": try await library.value, "LACKING": lack]
  }

  /// Lasts as long as the tests do; nothing of it is left behind.
  private static let folder: Result<TemporaryDirectory, any Error> = Result {
    let folder = try TemporaryDirectory()
    atexit {
      guard let folder = try? Attempt.folder.get() else { return }
      for name in ["attempts.so", "attempts-libusb1.so"] { unlink(folder.file(name)) }
      rmdir(folder.path)
    }
    return folder
  }

  /// What is loaded into the process, made once.
  private static let library = Task { try await compile("attempts.so") }
  private static let libraryWithLibusb1 = Task {
    try await compile("attempts-libusb1.so", "-DHAS_LIBUSB1", "-l:libusb-1.0.so.0")
  }

  private static func compile(_ name: String, _ options: String...) async throws -> String {
    let source = #filePath.split(separator: "/").dropLast().map { "/\($0)" }.joined() + "/attempts.c"
    let library = try folder.get().file(name)
    // Swift itself does not link without it.
    let compiler = try BuiltProducts.systemProgram("clang", package: "clang")
    let ended = try await ChildProcess.run(
      compiler, ["-shared", "-fPIC", "-Wall", "-Werror", "-o", library, source] + options)
    guard ended.status == .exited(0) else { throw RigError("\(source): \(ended.log)") }
    return library
  }
}
