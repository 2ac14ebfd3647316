import EventLoop
import Glibc
import ReaderSimulator
import TestKit

/// The measurements of `tagroute-bench`.
package enum Benchmarks {
  private static let usage = """
    Usage: tagroute-bench tap [--taps NUMBER]
           tagroute-bench read [--own-time MILLISECONDS]
           tagroute-bench poll [--placements NUMBER | --own-time MILLISECONDS]
           tagroute-bench drop-out [--rounds NUMBER]
           tagroute-bench cost [--seconds NUMBER]
           tagroute-bench route [--domains NUMBER]
           tagroute-bench gate [--changes NUMBER]
           tagroute-bench session [--ends NUMBER]
           tagroute-bench flood [--bus dbus-daemon|dbus-broker]
           tagroute-bench inbox [--taps NUMBER]
           tagroute-bench core-nfc [--sessions NUMBER | --compile]
           tagroute-bench pcsc [--taps NUMBER]
           tagroute-bench mqtt [--taps NUMBER]
           tagroute-bench stations [--stations NUMBER]
           tagroute-bench nfcpy
           tagroute-bench home-assistant

      tap    from a tag placed on the simulated reader to the call of Notify, and to the start of a rule's program without a
             click, through the real programs; and next to it a loop of nfc-list on the same simulator
      read   what it costs to read each type of tag on a modelled PN532: exchanges, chip commands, bytes and time, next to
             nfcpy and Debian's tools
      poll   from a tag placed at a random moment on a modelled PN532 to its detection; how long the field is on, and what
             the processor does meanwhile; next to nfcpy and loops of libnfc's programs
      drop-out
             how many drop-outs of a resting tag, 20 to 200 ms long, are a new tap: with the default RemovalDelay=, and without
      cost   memory and processor time of the daemon and its reader process while they poll
      route  who opens a link where handlers claim 100,000 domains: building the registry, its memory, and a decision, next to
             comparing every pattern and to grep
      gate   from a change that ends scanning (a lock, another session, sleep, an inhibitor) to the field being off
      session
             from a client's death at each step of a reader session to scanning being back
      flood  what a user who calls the daemon without end, by 3 to 200 connections, does to a lock and to a tap, next to the bus's own delay
      inbox  what it takes to list taps where 500 and 100,000 are kept, next to the sqlite3 tool with the same question to the same
             file; and the first answers of an agent that has just started
      core-nfc
             calls to a tag over Core NFC, next to the same calls over TagrouteClient; start-up and size of programs that
             use one or the other; with --compile only the time to type-check them
      pcsc   from a tag on a simulated PC/SC reader to the call of Notify, through the real pcscd, next to pyscard; and what
             the processes do while a tag rests
      mqtt   from a tap at the agent to the broker's PUBACK, next to mosquitto_pub and paho; and what tagroute-mqtt costs while
             nothing happens
      stations
             50 stations with 1,000 taps each and one broker: what arrives, in which order, how late, and a station's memory
      nfcpy  no measurement: nfcpy reads every tag that is simulated, and what it writes is read again
      home-assistant
             no measurement: Home Assistant finds the station and hears its taps, through the real programs and mosquitto

    With --own-time, chip and host take so much time of their own for each command, in addition to the line and the air.

    nfcpy takes part where Packaging/python-package has installed it, and the package's folder is the working directory.
    Packaging/check-home-assistant installs Home Assistant.
    """

  /// Runs the benchmark that the arguments name, prints its figures, and returns the exit code. `arguments` excludes
  /// the program's name.
  package static func run(_ arguments: [String]) async -> Int32 {
    let number = arguments.count == 3 ? Int(arguments[2]).flatMap { $0 > 0 ? $0 : nil } : nil
    let work: @Sendable () async throws -> Void
    switch (arguments.first, arguments.dropFirst().first, number) {
    case ("tap", nil, _): work = { try await TapBenchmark(taps: 200).run() }
    case ("tap", "--taps", let number?): work = { try await TapBenchmark(taps: number).run() }
    case ("read", nil, _): work = { try await ReadBenchmark(timing: .realistic).run() }
    case ("read", "--own-time", let number?):
      work = { try await ReadBenchmark(timing: .realistic.taking(.milliseconds(number))).run() }
    case ("poll", nil, _): work = { try await PollBenchmark(placements: 200, timing: .realistic).run() }
    case ("poll", "--placements", let number?):
      work = { try await PollBenchmark(placements: number, timing: .realistic).run() }
    case ("poll", "--own-time", let number?):
      work = { try await PollBenchmark(placements: 200, timing: .realistic.taking(.milliseconds(number))).run() }
    case ("drop-out", nil, _): work = { try await DropOutBenchmark(rounds: 7).run() }
    case ("drop-out", "--rounds", let number?): work = { try await DropOutBenchmark(rounds: number).run() }
    case ("nfcpy", nil, _): work = { try await NfcpyComparison().run() }
    case ("home-assistant", nil, _): work = { try await HomeAssistantCheck().run() }
    case ("route", nil, _): work = { try await RouteBenchmark(domains: 100_000).run() }
    case ("route", "--domains", let number?): work = { try await RouteBenchmark(domains: number).run() }
    case ("gate", nil, _): work = { try await GateBenchmark(changes: 100).run() }
    case ("gate", "--changes", let number?): work = { try await GateBenchmark(changes: number).run() }
    case ("session", nil, _): work = { try await SessionBenchmark(ends: 50).run() }
    case ("session", "--ends", let number?): work = { try await SessionBenchmark(ends: number).run() }
    case ("flood", nil, _): work = { try await FloodBenchmark(rounds: 20, bus: .daemon).run() }
    case ("flood", "--bus", _) where arguments.count == 3 && PrivateBus.Program(rawValue: arguments[2]) != nil:
      let bus = PrivateBus.Program(rawValue: arguments[2]) ?? .daemon
      work = { try await FloodBenchmark(rounds: 20, bus: bus).run() }
    // The flood benchmark starts itself with this command, as another user.
    case ("flood-client", _, _):
      guard let client = FloodClient(arguments.dropFirst()) else { return 64 }
      work = { try await client.run() }
    case ("inbox", nil, _): work = { try await InboxBenchmark(sizes: [500, 100_000]).run() }
    case ("inbox", "--taps", let number?): work = { try await InboxBenchmark(sizes: [number]).run() }
    case ("core-nfc", nil, _): work = { try await CoreNFCBenchmark(sessions: 20).run() }
    case ("core-nfc", "--sessions", let number?): work = { try await CoreNFCBenchmark(sessions: number).run() }
    case ("core-nfc", "--compile", _) where arguments.count == 2: work = { try await CompileBenchmark(runs: 20).run() }
    case ("pcsc", nil, _): work = { try await PCSCBenchmark(taps: 100).run() }
    case ("pcsc", "--taps", let number?): work = { try await PCSCBenchmark(taps: number).run() }
    case ("mqtt", nil, _): work = { try await MqttBenchmark(taps: 200).run() }
    case ("mqtt", "--taps", let number?): work = { try await MqttBenchmark(taps: number).run() }
    case ("stations", nil, _): work = { try await StationsBenchmark(stations: 50, taps: 1000).run() }
    case ("stations", "--stations", let number?):
      work = { try await StationsBenchmark(stations: number, taps: 1000).run() }
    case ("cost", nil, _): work = { try await CostBenchmark(seconds: 30).run() }
    case ("cost", "--seconds", let number?): work = { try await CostBenchmark(seconds: number).run() }
    default:
      print(usage)
      return arguments == ["--help"] ? 0 : 64
    }
    do {
      try await work()
      return 0
    } catch {
      print("tagroute-bench: \(error)")
      return 1
    }
  }
}

/// The programs under measurement.
enum BenchmarkPrograms {
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
