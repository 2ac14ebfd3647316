import EventLoop
import Foundation
import TestKit
import Testing

/// Sources of programs are checked against the module that was built, in both language modes.
@Suite(.timeLimit(.minutes(60))) struct CompileTests {
  private static let folder = repositoryRoot + "/Tests/Client/Long/CoreNFCInterfaceTests"

  private static func sources(_ folder: String) throws -> [String] {
    let names = try #require(fileNames(in: folder))
    return names.filter { $0.hasSuffix(".swift") }.sorted().map { "\(folder)/\($0)" }
  }

  /// Returns the warnings and errors.
  private func check(_ sources: [String], mode: String, module: [String] = ["-module-name", "Program"]) async throws
    -> [String]
  {
    let built = try #require(OwnProgram.directory)
    // The module's own dependencies import C modules.
    let flags = try await ChildProcess.run(
      BuiltProducts.systemProgram("pkg-config", package: "pkgconf"), ["--cflags", "dbus-1"])
    let maps = ["\(repositoryRoot)/Sources/CLibraries/CDBus", "\(built)/CShims.build"]
    let clang =
      flags.output.split(whereSeparator: \.isWhitespace).map(String.init)
      + maps.map { "-fmodule-map-file=\($0)/module.modulemap" }
    let (status, _, log) = try await ChildProcess.run(
      BuiltProducts.systemProgram("swiftc", package: "swiftlang"),
      ["-typecheck", "-parse-as-library", "-swift-version", mode] + module
        + ["-I", "\(built)/Modules", "-module-cache-path", "\(built)/ModuleCache"]
        + clang.flatMap { ["-Xcc", $0] } + sources)
    let problems = log.filter { $0.hasPrefix("/") && ($0.contains("warning:") || $0.contains("error:")) }
    #expect(status == .exited(0) || !problems.isEmpty, "\(log)")
    return problems
  }

  @Test(arguments: ["5", "6"]) func `sources that use the whole interface have no warning`(mode: String) async throws {
    // Classes that conform to the protocols of tags, too.
    let tags = "\(repositoryRoot)/Tests/Client/Fast/CoreNFCTests/Tags"
    let sources =
      try Self.sources("\(Self.folder)/Interface") + ["\(tags)/MockTag.swift", "\(tags)/MockISO15693Tag.swift"]
    #expect(sources.count > 10)
    #expect(try await check(sources, mode: mode) == [])
  }

  /// The former names in `OldNames.swift`: 5 types, 26 members of them, the text record, and 3 calls.
  private static let formerNames = 5 + 26 + 1 + 3

  @Test(arguments: ["5", "6"]) func `each old name has the warning that it is old, and no other`(mode: String)
    async throws
  {
    let problems = try await check(["\(Self.folder)/TypeChecked/OldNames.swift"], mode: mode)
    let names = problems.compactMap { problem -> String? in
      let parts = problem.components(separatedBy: "warning: '")
      guard parts.count == 2, parts[1].contains("' is deprecated") else { return nil }
      return parts[1].components(separatedBy: "'").first
    }
    #expect(names.count == problems.count, "\(problems)")
    #expect(Set(names).count == Self.formerNames, "\(Set(names).sorted())")
  }

  @Test(arguments: ["5", "6"])
  func `a program may declare a session Sendable without a warning`(mode: String) async throws {
    #expect(try await check(["\(Self.folder)/TypeChecked/RetroactiveSendable.swift"], mode: mode) == [])
  }

  /// CoreNFC is compiled in Swift 5 mode, so in that mode the compiler treats its types as those of an SDK. In Swift 6
  /// mode it warns of types that are not Sendable.
  @Test(arguments: ["5", "6"])
  func `a handler may take a session along if the import says so`(mode: String) async throws {
    let problems = try await check(["\(Self.folder)/TypeChecked/PreconcurrencyImport.swift"], mode: mode)
    let isExpected = { (line: String) in
      mode == "6" && line.contains("warning:") && (line.contains("Sendable") || line.contains("@preconcurrency"))
    }
    #expect(problems.filter { !isExpected($0) } == [])
  }

  @Test func `in Swift 5 mode, a handler may capture variables without a warning`() async throws {
    #expect(try await check(["\(Self.folder)/TypeChecked/SwiftFiveHandlers.swift"], mode: "5") == [])
  }

  @Test func `in Swift 5 mode, a handler may use the main actor's properties, with a warning`() async throws {
    let problems = try await check(["\(Self.folder)/TypeChecked/MainActorHandlers.swift"], mode: "5")
    #expect(problems.filter { !$0.contains("warning: main actor-isolated") } == [])
  }

  /// The package compiles the module in Swift 5 mode, which does not find data races.
  @Test func `the module's own sources have no warning in Swift 6 mode`() async throws {
    let folder = repositoryRoot + "/Sources/Client/CoreNFC"
    let folders = try #require(fileNames(in: folder)).filter { !$0.contains(".") }.map { "\(folder)/\($0)" }
    let sources = try ([folder] + folders).flatMap { try Self.sources($0) }
    #expect(sources.count > 20)
    // The first list of features in the manifest is `settings`, which the module has.
    let manifest = try String(contentsOfFile: repositoryRoot + "/Package.swift", encoding: .utf8)
    let settings = try #require(manifest.components(separatedBy: "let settings: [SwiftSetting] = [").last)
    let list = try #require(settings.components(separatedBy: "\n]").first)
    let features = list.components(separatedBy: ".enableUpcomingFeature(\"").dropFirst()
      .compactMap { $0.components(separatedBy: "\"").first }
    #expect(features.count > 3)
    // The package's name is that of its folder, as a C identifier. It gives access to `package` declarations.
    let name = try #require(repositoryRoot.split(separator: "/").last).lowercased()
      .map { $0.isLetter || $0.isNumber ? $0 : "_" }
    let module =
      ["-module-name", "CoreNFC", "-package-name", String(name), "-whole-module-optimization"]
      + features.flatMap { ["-enable-upcoming-feature", $0] }
    #expect(try await check(sources, mode: "6", module: module) == [])
  }
}
