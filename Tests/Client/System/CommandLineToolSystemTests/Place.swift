import Bus
import Foundation
import TestKit
import Testing

/// A bus with a double of the daemon, of the agent, of both or of neither. It is there as long as this exists.
struct BusOfDoubles {
  let bus: PrivateBus
  let double: DaemonDouble

  var address: String { bus.address }

  init(daemon: Bool = false, agent: Bool = false, starter: String = #function) async throws {
    bus = try await PrivateBus.start(starter: starter)
    double = try await DaemonDouble(on: bus.address)
    if daemon { try await double.start() }
    if agent { try await double.startAgent() }
  }
}

/// A bus with a stand-in for the daemon that has a reader, and the real `tagroute` to run on it.
struct Place {
  let bus: PrivateBus
  let daemon: ReaderSessionStandIn
  let starter: String

  /// Starts the daemon, with a card on its reader if there is one.
  init(with card: SessionCard? = nil, starter: String = #function) async throws {
    self.starter = starter
    bus = try await PrivateBus.start(starter: starter)
    daemon = try await ReaderSessionStandIn(on: bus.address)
    if let card { try await daemon.place(card) }
  }

  func start(
    _ arguments: [String], program: String? = nil, environment: [String: String] = [:], input: Bool = false
  ) throws -> ChildProcess {
    let usual = ["DBUS_SYSTEM_BUS_ADDRESS": bus.address, "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TERM": "dumb"]
    return try ChildProcess(
      program ?? BuiltProducts.program("tagroute"), arguments,
      environment: usual.merging(environment) { _, given in given },
      input: input, starter: starter)
  }

  func run(_ arguments: [String]) async throws -> (code: ChildProcess.ExitStatus, output: String, errors: [String]) {
    let process = try start(arguments)
    let status = try await process.exit()
    let output = await process.standardOutput()
    let lines = Set(output.split(separator: "\n").map(String.init))
    return (status, output, await process.log().filter { !lines.contains($0) })
  }

  func object(_ arguments: [String]) async throws -> [String: Any] {
    let result = try await run(arguments + ["--json"])
    #expect(result.code == .exited(0), "\(result.errors)")
    return try #require(JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
  }

  func nextStart() async throws -> [String: Value] {
    for await request in daemon.requests { if case .start(let options) = request { return options } }
    throw RigError("no client asked for a reader session")
  }

  /// The next `count` requests of clients, and the options of the session that the first one asks for.
  func session(of count: Int) async throws -> (options: [String: Value], requests: [ReaderSessionStandIn.Request]) {
    let requests = await next(count)
    guard case .start(let options)? = requests.first else { throw RigError("no session was asked for: \(requests)") }
    return (options, requests)
  }

  func next(_ count: Int) async -> [ReaderSessionStandIn.Request] {
    var result: [ReaderSessionStandIn.Request] = []
    for await request in daemon.requests {
      result.append(request)
      if result.count == count { break }
    }
    return result
  }
}
