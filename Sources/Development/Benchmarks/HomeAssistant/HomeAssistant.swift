import FoundationEssentials
import Glibc
import TestKit

/// Home Assistant's core, run by home-assistant.py until `stop`.
struct HomeAssistant {
  /// A line that home-assistant.py has printed.
  struct Observation: Decodable {
    /// What happened; home-assistant.py has the list.
    let event: String
    /// The version of Home Assistant, if it has started.
    let version: String?
    /// What happened to a device.
    let action: String?
    /// The id of a device.
    let id: String?
    /// The identifiers of a device, each with its integration.
    let identifiers: [[String]]?
    /// The state of a sensor, and what kind of sensor it is.
    let state, deviceClass: String?
    /// The tag, and the device that scanned it.
    let tag, scanner: String?

    private enum CodingKeys: String, CodingKey {
      case event, version, action, id, identifiers, state
      case deviceClass = "device_class"
      case tag = "tag_id"
      case scanner = "device_id"
    }

    /// Decodes a line; nil for the lines of Home Assistant's own log.
    init?(line: String) {
      guard let value = try? JSONDecoder().decode(Observation.self, from: Data(line.utf8)) else { return nil }
      self = value
    }
  }

  static let release = "2024.3.3"
  private static let script = "Sources/Development/Benchmarks/HomeAssistant/home-assistant.py"
  private let process: ChildProcess

  /// Starts it in the installation's folder, so that a second start is a restart. Its automation waits for `tag`.
  /// Returns when Home Assistant reports that it has started. It connects to the broker about the same time.
  static func start(_ installation: Installation, port: UInt16, tag: String) async throws -> HomeAssistant {
    let python = ".build/homeassistant-\(release)/bin/python3"
    guard access(python, X_OK) == 0, access(script, R_OK) == 0 else {
      throw RigError("Home Assistant is not here: in the package's folder, Packaging/check-home-assistant")
    }
    let folder = installation.directory.file("home-assistant")
    mkdir(folder, 0o700)
    let process = try await installation.start(python, [script, folder, "\(port)", tag], input: true)
    let assistant = HomeAssistant(process: process)
    let started = try await assistant.observe("start") { $0.event == "started" }
    guard started.version == release else {
      throw RigError("this is Home Assistant \(started.version ?? "without a version"), not \(release)")
    }
    return assistant
  }

  /// The number of lines so far, for `observe`.
  var moment: Int { get async { await process.log().count } }

  /// Waits for an observation after a moment. `what` completes “Home Assistant did not …”.
  @discardableResult
  func observe(
    _ what: String, after moment: Int = 0, where matches: @escaping @Sendable (Observation) -> Bool
  ) async throws -> Observation {
    do {
      let line = try await process.line(after: moment) { Observation(line: $0).map(matches) ?? false }
      guard let observation = Observation(line: line) else { throw RigError("no observation: \(line)") }
      return observation
    } catch {
      throw RigError("Home Assistant did not \(what): \(error)")
    }
  }

  /// All observations so far.
  func observations() async -> [Observation] { await process.log().compactMap(Observation.init(line:)) }

  /// Stops it as systemd would, and waits until it has written its files.
  func stop() async throws {
    try await process.send("stop")
    let status = try await process.exit()
    guard status == .exited(0) else {
      throw RigError("Home Assistant ended: \(status); its log:\n" + (await process.log().joined(separator: "\n")))
    }
  }
}
