import EventLoop
import Glibc
import ReaderSimulator
import TestKit

/// The measurements of `tagroute-bench`.
package enum Benchmarks {
  private static let usage = """
    Usage: tagroute-bench tap [--taps NUMBER | --own-time MILLISECONDS]
           tagroute-bench read [--own-time MILLISECONDS]
           tagroute-bench poll [--placements NUMBER | --own-time MILLISECONDS]
           tagroute-bench drop-out [--rounds NUMBER]
           tagroute-bench cost [--seconds NUMBER]
           tagroute-bench route [--handlers NUMBER]
           tagroute-bench gate [--changes NUMBER]
           tagroute-bench session [--ends NUMBER]
           tagroute-bench flood [--bus dbus-daemon|dbus-broker]
           tagroute-bench inbox [--taps NUMBER]
           tagroute-bench core-nfc [--sessions NUMBER | --compile]
           tagroute-bench pcsc [--taps NUMBER]
           tagroute-bench mqtt [--taps NUMBER]
           tagroute-bench stations [--stations NUMBER]
           tagroute-bench soak [--taps NUMBER]
           tagroute-bench window
           tagroute-bench nfcpy
           tagroute-bench home-assistant

      tap    each kind of tag on a modelled PN532: from placed to the call of
             Notify, and to the start of a rule's program without a click,
             through the real programs; next to nfcpy and loops of libnfc's
             programs
      read   what it costs to read each type of tag on a modelled PN532:
             exchanges, chip commands, bytes and time, next to nfcpy and
             Debian's tools
      poll   from a tag placed at a random moment on a modelled PN532 to its
             detection; how long the field is on, and what the processor does
             meanwhile; next to nfcpy and loops of libnfc's programs
      drop-out
             how many drop-outs of a resting tag, 20 to 200 ms long, are a new
             tap: with the default RemovalDelay=, and without
      cost   memory and processor time of the daemon and its reader process
             while they poll
      route  what 10 to 10,000 handlers with ten domains each cost: the
             registry, a decision, and an agent with them, next to comparing
             every pattern and to grep
      gate   from a change that ends scanning (a lock, another session, sleep,
             an inhibitor) to the field being off
      session
             from a client's death at each step of a reader session to scanning
             being back
      flood  what a user who calls the daemon without end, by 3 to 200
             connections, does to a lock and to a tap, next to the bus's own
             delay
      inbox  what it takes to list taps where 500 and 100,000 are kept, next to
             the sqlite3 tool with the same question to the same file; the first
             answers of an agent that has just started; and storing a tap where
             the inbox is full
      core-nfc
             calls to a tag over Core NFC, next to the same calls over
             TagrouteClient; start-up and size of programs that use one or the
             other; with --compile only the time to type-check them
      pcsc   from a tag on a simulated PC/SC reader to the call of Notify,
             through the real pcscd, next to pyscard; and what the processes do
             while a tag rests
      mqtt   from a tap at the agent to the broker's PUBACK, next to
             mosquitto_pub and paho; and what tagroute-mqtt costs while nothing
             happens
      stations
             50 stations with 1,000 taps each and one broker: what arrives, in
             which order, how late, and a station's memory
      soak   a million taps one after the other without a restart: the
             programs' memory and descriptors, and the time to Notify, a hundred
             times in between
      window the window with 10,000 taps in the inbox: from its start to the
             first frame, its memory, and the frames while 1,000 taps arrive and
             while the list scrolls
      nfcpy  no measurement: nfcpy reads every tag that is simulated, and what
             it writes is read again
      home-assistant
             no measurement: Home Assistant finds the station and hears its
             taps, through the real programs and mosquitto

    Option of each measurement:

      --json FILE   also write every value to FILE, with the date, the commit of
                    the working directory and the machine

    With --own-time, chip and host take so much time of their own for each
    command, in addition to the line and the air.

    nfcpy takes part where Packaging/python-package has installed it, and the
    package's folder is the working directory. Packaging/check-home-assistant
    installs Home Assistant.
    """

  /// Runs the benchmark that the arguments name, prints its figures, and returns the exit code. `arguments` excludes
  /// the program's name.
  package static func run(_ arguments: [String]) async -> Int32 {
    var arguments = arguments
    var path: String?
    if let index = arguments.firstIndex(of: "--json"), index + 1 < arguments.count {
      path = arguments[index + 1]
      arguments.removeSubrange(index...index + 1)
    }
    guard let work = work(arguments) else {
      print(usage)
      return arguments == ["--help"] ? 0 : 64
    }
    var results = Results()
    if let path, let benchmark = arguments.first {
      results.file = Results.DataFile(path: path, benchmark: benchmark, commit: await commit())
    }
    do {
      try await work(&results)
      if !results.series.isEmpty { print(results.tables) }
      try results.save()
      return 0
    } catch {
      if !results.series.isEmpty { print(results.tables) }
      print("tagroute-bench: \(error)")
      return 1
    }
  }

  private typealias Work = @Sendable (inout Results) async throws -> Void

  /// A measurement, or how it is limited by the number of an option.
  private struct Measurement: Sendable {
    /// Nil if it takes no number.
    var option: String?
    /// Of the option, if it is not given.
    var number = 0
    let work: @Sendable (Int, inout Results) async throws -> Void
  }

  private static let measurements: [String: Measurement] = [
    "tap": .init(option: "--taps", number: 120) { try await TapBenchmark(taps: $0, timing: .realistic).run(&$1) },
    "read": .init { try await ReadBenchmark(timing: .realistic).run(&$1) },
    "poll": .init(option: "--placements", number: 120) {
      try await PollBenchmark(placements: $0, timing: .realistic).run(&$1)
    },
    "drop-out": .init(option: "--rounds", number: 7) { try await DropOutBenchmark(rounds: $0).run(&$1) },
    "window": .init { try await WindowBenchmark().run(&$1) },
    "nfcpy": .init { _, _ in try await NfcpyComparison().run() },
    "home-assistant": .init { _, _ in try await HomeAssistantCheck().run() },
    "route": .init(option: "--handlers") {
      for handlers in $0 > 0 ? [$0] : [10, 100, 1000, 10_000] { try await RouteBenchmark(handlers: handlers).run(&$1) }
    },
    "gate": .init(option: "--changes", number: 40) { try await GateBenchmark(changes: $0).run(&$1) },
    "session": .init(option: "--ends", number: 50) { try await SessionBenchmark(ends: $0).run(&$1) },
    "flood": .init { try await FloodBenchmark(rounds: 20, bus: .daemon).run(&$1) },
    "inbox": .init(option: "--taps") { try await InboxBenchmark(sizes: $0 > 0 ? [$0] : [500, 100_000]).run(&$1) },
    "core-nfc": .init(option: "--sessions", number: 20) { try await CoreNFCBenchmark(sessions: $0).run(&$1) },
    "pcsc": .init(option: "--taps", number: 100) { try await PCSCBenchmark(taps: $0).run(&$1) },
    "mqtt": .init(option: "--taps", number: 200) { try await MqttBenchmark(taps: $0).run(&$1) },
    "stations": .init(option: "--stations", number: 50) {
      try await StationsBenchmark(stations: $0, taps: 1000).run(&$1)
    },
    "soak": .init(option: "--taps", number: 1_000_000) { try await SoakBenchmark(taps: $0).run(&$1) },
    "cost": .init(option: "--seconds", number: 30) { try await CostBenchmark(seconds: $0).run(&$1) },
  ]

  /// What the arguments ask for; nil if they are wrong.
  private static func work(_ arguments: [String]) -> Work? {
    let number = arguments.count == 3 ? Int(arguments[2]).flatMap { $0 > 0 ? $0 : nil } : nil
    switch (arguments.first, arguments.dropFirst().first) {
    case ("tap", "--own-time"), ("read", "--own-time"), ("poll", "--own-time"):
      guard let number else { return nil }
      let timing = TimingModel.realistic.taking(.milliseconds(number))
      switch arguments[0] {
      case "tap": return { try await TapBenchmark(taps: 120, timing: timing).run(&$0) }
      case "read": return { try await ReadBenchmark(timing: timing).run(&$0) }
      default: return { try await PollBenchmark(placements: 120, timing: timing).run(&$0) }
      }
    case ("core-nfc", "--compile") where arguments.count == 2: return { try await CompileBenchmark(runs: 20).run(&$0) }
    case ("flood", "--bus"):
      guard arguments.count == 3, let bus = PrivateBus.Program(rawValue: arguments[2]) else { return nil }
      return { try await FloodBenchmark(rounds: 20, bus: bus).run(&$0) }
    // The flood benchmark starts itself with this command, as another user.
    case ("flood-client", _):
      guard let client = FloodClient(arguments.dropFirst()) else { return nil }
      return { _ in try await client.run() }
    case (let name?, let option):
      guard let measurement = measurements[name], option == nil || option == measurement.option && number != nil else {
        return nil
      }
      return { try await measurement.work(number ?? measurement.number, &$0) }
    case (nil, _): return nil
    }
  }

  /// The commit of the working directory, with a mark if the programs were changed since; `unknown` without a checkout.
  private static func commit() async -> String {
    func git(_ arguments: [String]) async -> String? {
      let run = try? await ChildProcess.run("/usr/bin/git", arguments)
      return run?.status == .exited(0) ? run?.output : nil
    }
    guard let head = await git(["rev-parse", "--short=12", "HEAD"]),
      let changes = await git(["status", "--porcelain", "--", "Sources", "Package.swift"])
    else { return "unknown" }
    return head.dropLast() + (changes.isEmpty ? "" : "-dirty")
  }
}

/// The programs under measurement.
enum BenchmarkPrograms {
  /// Builds Tagroute's programs and `others`, since `swift run` builds only the benchmark. Outside the package's folder,
  /// the existing programs are used, and so are those in the folder `TAGROUTE_PROGRAMS`. `TAGROUTE_BUILD_OPTIONS` has the
  /// other options with which the benchmark was built, because different ones would compile everything again.
  static func build(and others: [String] = []) async throws {
    guard access("Package.swift", R_OK) == 0 else { return }
    #if DEBUG
      let configuration = "debug"
    #else
      let configuration = "release"
    #endif
    let swift = try BuiltProducts.systemProgram("swift", package: "a Swift toolchain; there is none for Debian")
    let options = (ProcessEnvironment.current["TAGROUTE_BUILD_OPTIONS"] ?? "").split(separator: " ").map(String.init)
    let ours = ["tagroute", "tagrouted", "tagroute-reader", "tagroute-agent", "tagroute-simulator"]
    for program in ours + others where !BuiltProducts.isInOtherFolder(program) {
      let build = try ChildProcess(swift, ["build", "--configuration", configuration, "--product", program] + options)
      guard try await build.exit(within: .seconds(1800)) == .exited(0) else {
        throw RigError("\(program) does not build:\n" + (await build.log().suffix(20).joined(separator: "\n")))
      }
    }
  }
}
