import Glibc
import TestKit
import Testing

/// The real program and a broker that sends what no broker may send (`hostile-broker.py`).
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct HostileBrokerTests {
  @Test func `a hostile broker ends connections, and not the program`() async throws {
    let script = "\(repositoryRoot)/Tests/Client/System/MqttSystemTests/hostile-broker.py"
    let broker = try ChildProcess("/usr/bin/python3", [script])
    atEndOfTest { try await broker.exit(after: SIGKILL) }
    let port = try await broker.line { $0.hasPrefix("port ") }.dropFirst("port ".count)
    let station = try await MqttStation(broker: "mqtt://127.0.0.1:\(port)")
    try await station.startAgent()
    try await station.startMqtt()
    let program = try #require(await station.mqtt)
    try await broker.line(containing: "connection 5")
    try await station.isConnected()
    // The same process. It has taken little memory for 256 MiB.
    let status = String(decoding: try readFile("/proc/\(program.identifier)/status"), as: UTF8.self)
    let peak = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }?.split(separator: " ").dropFirst().first
    #expect(try #require(peak.flatMap { Int($0) }) < 100_000, "\(status)")
  }
}
