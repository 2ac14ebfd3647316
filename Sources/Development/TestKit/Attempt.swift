import CShims
import Glibc
package import Testing

package let hasLandlock = tagroute_landlock_version() > 0
package let noLandlock: Comment = "this kernel has no Landlock, which restricts files"

/// An operation that a test makes a reader process try, and the expected outcome in a confined process.
///
/// The process tries it in a library (`attempts.c`) that is loaded with `LD_PRELOAD`.
package struct Attempt: Sendable, CustomTestStringConvertible {
  package enum Outcome: Hashable, Sendable {
    case done
    /// The name of an error in errno(3).
    case error(String)
    /// The number of the signal that ended the process.
    case killed(Int32)

    /// The outcome that the process has printed in its last line; nil if it has not tried the operation.
    package init?(printed output: String) {
      switch output.split(separator: "\n").last {
      case "done": self = .done
      case let word? where word.hasPrefix("E"): self = .error(String(word))
      default: return nil
      }
    }
  }

  /// The name in `attempts.c`.
  package let name: String
  /// A file, for example.
  package var subject = ""
  package let outcome: Outcome
  package var hasLibusb1 = false
  /// The kernel feature to hide, by its name in `attempts.c`.
  package var lack = ""
  /// The testbed that provides the devices; nil for the devices of the machine.
  package var testbed: DeviceTestbed?

  package init(
    name: String, subject: String = "", outcome: Outcome, hasLibusb1: Bool = false, testbed: DeviceTestbed? = nil
  ) {
    (self.name, self.subject, self.outcome) = (name, subject, outcome)
    (self.hasLibusb1, self.testbed) = (hasLibusb1, testbed)
  }

  package var testDescription: String { "\(name) \(subject)" }

  /// The kernel ends the process.
  package static func killed(_ name: String) -> Self { Self(name: name, outcome: .killed(SIGSYS)) }

  /// The call seems not to exist.
  package static func unknown(_ name: String, _ subject: String = "") -> Self {
    Self(name: name, subject: subject, outcome: .error("ENOSYS"))
  }

  /// The call is not permitted.
  package static func refused(_ name: String, _ subject: String = "") -> Self {
    Self(name: name, subject: subject, outcome: .error("EPERM"))
  }

  /// The file cannot be accessed.
  package static func withoutFile(_ name: String, _ subject: String) -> Self {
    Self(name: name, subject: subject, outcome: .error("EACCES"))
  }

  /// Operations that no reader process needs.
  package static let whatNoReaderNeeds: [Attempt] = [
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
    Attempt(name: "addresses", outcome: .error("ENOMEM")), Attempt(name: "descriptors", outcome: .error("EMFILE")),
    // New files.
    .unknown("create", "/dev/shm/tagroute-attempt"), .unknown("nameless file", "/tmp"),
    .unknown("truncate what is open"),
  ]

  /// Files of the system and of other processes.
  package static let filesOfOthers: [Attempt] = [
    .withoutFile("read", "/etc/passwd"), .withoutFile("list", "/home"), .withoutFile("list", "/"),
    .withoutFile("read", "/proc/1/cmdline"), .withoutFile("read", "/proc/self/fd/0"),
    .withoutFile("read", "/dev/urandom"), .withoutFile("write", "/dev/null"), .withoutFile("open device", "/dev/ptmx"),
    .withoutFile("list", "/run"),
  ]

  /// Whether this process can try the operation. A sanitizer needs more addresses.
  package var isPossible: Bool { name != "addresses" || tagroute_is_sanitized() == 0 }

  /// Tries the operation before the process has confined itself, and after that. The outcomes have to differ.
  package func check(
    at location: SourceLocation = #_sourceLocation, _ attempt: (_ isConfined: Bool) async throws -> Outcome
  ) async throws {
    guard isPossible else { return }
    let before = try await attempt(false)
    let after = try await attempt(true)
    if name == "create" { unlink(subject) }
    #expect(after == outcome, "\(testDescription)", sourceLocation: location)
    #expect(before != after, "the outcome is the same before the process confines itself", sourceLocation: location)
  }

  /// Compiles a library from `source`. It is removed when the test process ends.
  package static func compile(_ source: String, to name: String, _ options: String...) async throws -> String {
    let library = try folder.get().file(name)
    // Always installed, because Swift itself links with it.
    let compiler = try BuiltProducts.systemProgram("clang", package: "clang")
    let ended = try await ChildProcess.run(
      compiler, ["-shared", "-fPIC", "-Wall", "-Werror", "-o", library, source] + options)
    guard ended.status == .exited(0) else { throw RigError("\(source): \(ended.log)") }
    return library
  }

  private static let folder: Result<TemporaryDirectory, any Error> = Result {
    let folder = try TemporaryDirectory()
    atexit {
      guard let folder = try? Attempt.folder.get() else { return }
      for name in fileNames(in: folder.path) ?? [] { unlink(folder.file(name)) }
      rmdir(folder.path)
    }
    return folder
  }
}
