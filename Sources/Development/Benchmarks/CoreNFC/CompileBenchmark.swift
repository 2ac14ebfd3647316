import EventLoop
import Glibc
import TestKit

/// The time to type-check a program of one file that imports CoreNFC, next to one that imports TagrouteClient, against
/// the modules that were built with the benchmark.
struct CompileBenchmark {
  let runs: Int

  func run() async throws {
    let programs = ["availability-core-nfc", "availability-client"]
    guard access("Package.swift", R_OK) == 0, let built = OwnProgram.directory else {
      throw RigError("the sources of the programs are missing: run this in the package's folder")
    }
    let compiler = try BuiltProducts.systemProgram("swiftc", package: "a Swift toolchain; there is none for Debian")
    let flags = try await flags(built)
    var times: [String: [Duration]] = [:]
    // The first run fills the cache of C modules.
    for number in 0...runs {
      for program in programs {
        let begun = ContinuousClock.now
        let source = "Sources/Development/\(program)/main.swift"
        let (status, _, log) = try await ChildProcess.run(compiler, flags + [source])
        let time = ContinuousClock.now - begun
        guard status == .exited(0) else {
          throw RigError("\(program) does not compile:\n" + log.suffix(20).joined(separator: "\n"))
        }
        if number > 0 { times[program, default: []].append(time) }
      }
    }
    var table = Table(columns: ["Source", "swiftc -typecheck, median, ms", "99 %", "Worst", "Runs"])
    for program in programs {
      let distribution = Distribution(times[program, default: []])
      let columns = [50, 99, 100].map { Distribution.milliseconds(distribution.percentile($0)) }
      table.add(["Sources/Development/\(program)/main.swift"] + columns + ["\(runs)"])
    }
    print(table.markdown)
  }

  /// What finds the modules in the build folder, and the C modules that they import.
  private func flags(_ built: String) async throws -> [String] {
    let configuration = try await ChildProcess.run(
      BuiltProducts.systemProgram("pkg-config", package: "pkgconf"), ["--cflags", "dbus-1"])
    guard configuration.status == .exited(0) else {
      throw RigError("pkg-config does not find dbus-1: apt-get install libdbus-1-dev")
    }
    let maps = ["Sources/CLibraries/CDBus", "\(built)/CShims.build"].map { "-fmodule-map-file=\($0)/module.modulemap" }
    let clang = configuration.output.split { $0.isWhitespace }.map { String($0) } + maps
    return ["-typecheck", "-swift-version", "6", "-module-name", "Program", "-I", "\(built)/Modules"]
      + ["-module-cache-path", "\(built)/ModuleCache"] + clang.flatMap { ["-Xcc", $0] }
  }
}
