import Bus
import Names
import ReaderSimulator
import TestKit
import Testing

/// The daemon and the agent with a simulated reader, for a program that uses Core NFC. The simulated reader is part of
/// the test's own process, so the test can compare the memory of a tag.
struct AppRig {
  /// Where the program finds its Info.plist.
  enum Place: Sendable, CaseIterable {
    /// Beside the program.
    case beside
    /// In `share`, for a program in `bin`.
    case installed
  }

  let reader: SimulatedReader
  private let installation: Installation
  private let polkit: PolkitStandIn

  private static let examples =
    repositoryRoot + "/Examples/core-nfc"

  /// Starts everything, and waits until the reader can be used. `starter` names the logs.
  init(starter: String = #function) async throws {
    var options = Installation.Options()
    options.daemonSettings = ["Reader": ["PollInterval=10"], "Scan": ["Sessions=any"]]
    installation = try await Installation(options, starter: starter)
    polkit = try await PolkitStandIn.start(
      on: BusAddress(installation.systemBus.address),
      allowing: [Names.PolkitAction.readTags, Names.PolkitAction.writeTags])
    reader = try await SimulatedReader.start(link: installation.directory.file("reader"))
    try await installation.startDaemon()
    try await installation.startAgent()
    let (daemon, agent) = (await installation.daemon, await installation.agent)
    try await #require(daemon).line(containing: "is ready")
    try await #require(agent).line(containing: "registered with the daemon")
  }

  /// Runs an example to its end, from a folder of its own. Returns how it ended, and all lines that it printed.
  func run(
    _ example: String, _ arguments: [String] = [], place: Place = .beside
  ) async throws -> (status: ChildProcess.ExitStatus, log: [String]) {
    let directory = installation.directory
    let (program, list) =
      switch place {
      case .beside: ("app/\(example)", "app/Info.plist")
      case .installed: ("usr/bin/\(example)", "usr/share/\(example)/Info.plist")
      }
    let path = try directory.write(try readFile(BuiltProducts.program(example)), to: program, mode: 0o755)
    try directory.write(try readFile("\(Self.examples)/\(example)/Info.plist"), to: list)
    let process = try await installation.start(path, arguments)
    let status = try await process.exit()
    return (status, await process.log())
  }

  /// The memory of a tag that is on the reader.
  func memory(of tag: TagID) async throws -> [UInt8] { try #require(await reader.memory(of: tag)) }

  /// Stops all processes.
  func stop() async {
    await installation.stop()
    await polkit.stop()
    await reader.stop()
  }
}
