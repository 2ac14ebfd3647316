import EventLoop
import Glibc
import TestKit

/// What programs cost that use Core NFC, next to those that use TagrouteClient: start-up and size.
struct ProgramCost {
  /// Two programs that only ask whether a reader can be used, and one example each.
  static let programs = asking + ["ndef-reader", "suica"]
  private static let asking = ["availability-core-nfc", "availability-client"]

  /// A running installation, with a reader that can be used.
  let installation: Installation

  /// Starts the two asking programs by turns. Returns the figures of all programs.
  func measure(starts: Int) async throws -> [Results.Series] {
    var times: [String: [Duration]] = [:]
    for _ in 0..<starts {
      for program in Self.asking { times[program, default: []].append(try await time(program)) }
    }
    var series: [Results.Series] = []
    for program in Self.programs {
      let labels: KeyValuePairs = ["Program": program]
      if let measured = times[program] { series.append(.init("start to exit", measured, labels)) }
      let path = try BuiltProducts.program(program)
      series.append(.init("stripped", Double(try await strippedSize(path) / 1000), "kB", labels))
      series.append(.init("libraries of Swift", Double(try await librarySize(path) / 1000), "kB", labels))
    }
    return series
  }

  /// The time from the start of a program to its exit, with the answer of the daemon.
  private func time(_ program: String) async throws -> Duration {
    let begun = ContinuousClock.now
    let process = try await installation.start(program)
    let status = try await process.exit()
    let time = ContinuousClock.now - begun
    let log = await process.log()
    // Core NFC waits 200 ms for the answer. Without one, it prints the same as without a reader.
    guard status == .exited(0), log == ["true"] else {
      throw RigError("\(program) did not find the reader, \(status): \(log.joined(separator: " "))")
    }
    return time
  }

  /// The size of a program without symbols and debug information, in bytes.
  private func strippedSize(_ path: String) async throws -> Int {
    let directory = try TemporaryDirectory()
    let strip = try BuiltProducts.systemProgram("strip", package: "binutils")
    _ = try await output(strip, ["-o", directory.file("stripped"), path])
    return try readFile(directory.file("stripped")).count
  }

  /// The size of Swift's libraries that a program loads, in bytes. Their folder is the toolchain's.
  private func librarySize(_ path: String) async throws -> Int {
    let ldd = try BuiltProducts.systemProgram("ldd", package: "libc-bin")
    return try await output(ldd, [path]).split(separator: "\n").reduce(0) { size, line in
      let words = line.split(separator: " ")
      guard words.count > 2, words[1] == "=>", words[2].contains("/lib/swift/") else { return size }
      return size + (try readFile(String(words[2])).count)
    }
  }

  private func output(_ program: String, _ arguments: [String]) async throws -> String {
    let (status, output, log) = try await ChildProcess.run(program, arguments)
    guard status == .exited(0) else { throw RigError("\(program): \(log.joined(separator: "\n"))") }
    return output
  }
}

/// The time to type-check a program of one file that imports CoreNFC, next to one that imports TagrouteClient, against
/// the modules that were built with the benchmark.
struct CompileBenchmark {
  let runs: Int

  func run(_ results: inout Results) async throws {
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
    for program in programs {
      results += Results.Series("swiftc -typecheck", times[program, default: []], ["Program": program])
    }
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
