import Glibc
import NDEF
import Names
import ReaderSimulator
import TestKit

/// Very many taps through the same processes: their memory and descriptors, the file of the inbox, and the time to the
/// call of Notify. Each tag is removed as soon as its notification comes, and the next one placed at once.
///
/// Daemon, reader processes, agent, pcscd and buses are real. The simulated reader is one of pcscd, because it finds a
/// tag without the times of a chip. The inbox keeps 500 taps, as by default, so it is full nearly all the time.
struct SoakBenchmark {
  let taps: Int
  /// How often the programs are measured.
  private let samples = 100
  /// Different links, many more than are on the screen at once.
  private let links = 1000

  /// A program at one moment.
  private struct Figures {
    let memory: ProcessMemory
    let descriptors: Int
  }

  private struct Sample {
    let taps: Int
    let seconds: Double
    /// Of the taps since the last sample, in milliseconds.
    let latencies: [Double]
    let inbox: Int
    /// In the order of the processes.
    let figures: [Figures]

    var line: String {
      let processes = figures.map { "\($0.memory.written) kB and \($0.descriptors) descriptors" }
      return "\(taps) taps in \(Int(seconds)) s, median \(Results.text(Results.percentile(50, of: latencies))) ms; "
        + processes.joined(separator: ", ")
    }
  }

  func run(_ results: inout Results) async throws {
    try await BenchmarkPrograms.build(and: ["tagroute-reader-pcsc", "tagroute-ifd"])
    let directory = try TemporaryDirectory()
    let readers = try await SimulatedCardReaders.start(socket: directory.file("readers"))
    let slot = await readers.addReader(.acr1252U).slot
    var quiet = PrivatePCSCD.Options()
    quiet.arguments = ["--error"]
    let pcscd = try await readers.startPCSCD(in: directory.path, options: quiet)
    var options = Installation.Options()
    options.reader = .others
    options.daemonSettings["Reader"] = ["Devices=\(Names.PCSC.devicePrefix)\(await readers.name(of: slot))"]
    // The rig keeps every line of a log.
    options.environment = ["TAGROUTE_LOG": "warning", Names.PCSC.socketVariable: pcscd.socket]
    let installation = try await Installation(options)
    let server = try await installation.startWithMenu(simulator: false)
    let processes = try await processes(installation)

    let clock = ContinuousClock()
    let start = clock.now
    var all: [Sample] = []
    var latencies: [Double] = []
    for number in 1...taps {
      let link = BenchmarkTag.link(number % links)
      let card = SimulatedCard(try .type2(.ntag215, message: NDEFMessage.uri(link).encoded()))
      let placed = clock.now
      let id = try await readers.insert(card, into: slot)
      let shown = try await server.next()
      latencies.append((clock.now - placed) / .milliseconds(1))
      guard "\(shown.summary) \(shown.body)".contains(link.suffix(9)) else {
        throw RigError(
          "tap \(number): the notification is for another tag: \(shown.summary): \(shown.body)",
          log: await lastTaps(installation, server))
      }
      await readers.remove(id)
      guard number % max(taps / samples, 1) == 0 || number == min(1000, taps) else { continue }
      let sample = Sample(
        taps: number, seconds: (clock.now - start) / .seconds(1), latencies: latencies, inbox: inboxSize(installation),
        figures: try processes.map {
          Figures(memory: try ProcessMemory(of: $0), descriptors: try ProcessTree.descriptors(of: $0))
        })
      print(sample.line)
      fflush(nil)
      all.append(sample)
      latencies = []
      await readers.resetRecords()
      server.forget()
      results.series = try series(all, processes)
      // A run of hours leaves what it has, whenever it ends.
      try results.save()
    }
    guard try await self.processes(installation) == processes else { throw RigError("a process was restarted") }
    await installation.stop()
    await pcscd.stop()
    await readers.stop()
  }

  /// The last notifications, with those that still come, and the last taps of the inbox. They show where a wrong
  /// notification comes from.
  private func lastTaps(_ installation: Installation, _ server: NotificationServerStandIn) async -> [String] {
    try? await Task.sleep(for: .seconds(2))
    let shown = await server.all.suffix(4).map { "Notify \($0.id) for \($0.replaces): \($0.body)" }
    let list = try? await installation.start("tagroute", ["inbox", "--json", "--limit", "4"])
    _ = try? await list?.exit()
    return shown + (await list?.log() ?? [])
  }

  private func processes(_ installation: Installation) async throws -> [Int32] {
    guard let daemon = await installation.daemon?.identifier, let agent = await installation.agent?.identifier else {
      throw RigError("tagrouted or tagroute-agent does not run")
    }
    return [daemon, agent] + (try ProcessTree.children(of: daemon).sorted())
  }

  /// The inbox with its log, in kB.
  private func inboxSize(_ installation: Installation) -> Int {
    let file = installation.directory.file("state/\(Names.Files.agentState)/\(Names.Files.inboxDatabase)")
    return ["", "-wal"].reduce(0) { $0 + ((try? readFile(file + $1)) ?? []).count } / 1000
  }

  private func series(_ all: [Sample], _ processes: [Int32]) throws -> [Results.Series] {
    var series: [Results.Series] = [
      .init("taps", all.map { Double($0.taps) }, ""), .init("after", all.map(\.seconds), "s"),
      .init("inbox", all.map { Double($0.inbox) }, "kB"),
    ]
    for percent in [50, 99, 100] {
      let values = all.map { Results.percentile(percent, of: $0.latencies) }
      series.append(.init("placed to Notify", values, "ms", ["Of the taps since the last sample": "\(percent) %"]))
    }
    for (index, process) in processes.enumerated() {
      let labels: KeyValuePairs = ["Process": try ProcessTree.name(of: process)]
      let figures = all.map { $0.figures[index] }
      series += [
        .init("resident", figures.map { Double($0.memory.resident) }, "kB", labels),
        .init("private and written", figures.map { Double($0.memory.written) }, "kB", labels),
        .init("descriptors", figures.map { Double($0.descriptors) }, "", labels),
      ]
    }
    return series
  }
}
