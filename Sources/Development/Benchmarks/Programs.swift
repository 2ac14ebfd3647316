import EventLoop
import Glibc
import TestKit

/// The programs under measurement.
enum Programs {
  /// Builds Tagroute's programs and `others`, since `swift run` builds only the benchmark. Outside the package's
  /// folder, the existing programs are used. `TAGROUTE_BUILD_OPTIONS` has the other options with which the benchmark was
  /// built, because different ones would compile everything again.
  static func build(and others: [String] = []) async throws {
    guard access("Package.swift", R_OK) == 0 else { return }
    #if DEBUG
      let configuration = "debug"
    #else
      let configuration = "release"
    #endif
    let swift = try BuiltProducts.systemProgram("swift", package: "a Swift toolchain; there is none for Debian")
    let options = (ProcessEnvironment.current["TAGROUTE_BUILD_OPTIONS"] ?? "").split(separator: " ").map(String.init)
    for program in ["tagroute", "tagrouted", "tagroute-reader", "tagroute-agent", "tagroute-simulator"] + others {
      let build = try ChildProcess(swift, ["build", "--configuration", configuration, "--product", program] + options)
      guard try await build.exit(within: .seconds(1800)) == .exited(0) else {
        throw RigError("\(program) does not build:\n" + (await build.log().suffix(20).joined(separator: "\n")))
      }
    }
  }
}
