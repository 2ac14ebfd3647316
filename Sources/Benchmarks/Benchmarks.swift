import Glibc

/// What `tagroute-bench` measures.
public enum Benchmarks {
  private static let usage = """
    Usage: tagroute-bench tap [--taps NUMBER]
           tagroute-bench cost [--seconds NUMBER]

      tap    from a tag placed on the simulated reader to the call of Notify, through the real programs, and next to it a
             loop of nfc-list on the same simulator
      cost   memory and processor time of the daemon and its reader process while they poll
    """

  /// Runs what the arguments ask for and prints the figures.
  ///
  /// - Parameter arguments: without the program's name.
  /// - Returns: the exit code.
  public static func run(_ arguments: [String]) async -> Int32 {
    let number = arguments.count == 3 ? Int(arguments[2]).flatMap { $0 > 0 ? $0 : nil } : nil
    let work: @Sendable () async throws -> Void
    switch (arguments.first, arguments.dropFirst().first, number) {
    case ("tap", nil, _): work = { try await TapBenchmark(taps: 200).run() }
    case ("tap", "--taps", let number?): work = { try await TapBenchmark(taps: number).run() }
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
