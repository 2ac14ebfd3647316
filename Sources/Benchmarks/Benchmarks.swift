import Glibc

/// What `tagroute-bench` measures.
public enum Benchmarks {
  private static let usage = """
    Usage: tagroute-bench tap [--taps NUMBER]

      tap   from a tag placed on the simulated reader to the call of Notify, through the real programs, and next to it a loop
            of nfc-list on the same simulator
    """

  /// Runs what the arguments ask for and prints the figures.
  ///
  /// - Parameter arguments: without the program's name.
  /// - Returns: the exit code.
  public static func run(_ arguments: [String]) async -> Int32 {
    var taps = 200
    switch arguments.count {
    case 1 where arguments[0] == "tap": break
    case 3 where arguments[0] == "tap" && arguments[1] == "--taps":
      guard let number = Int(arguments[2]), number > 0 else { fallthrough }
      taps = number
    default:
      print(usage)
      return arguments == ["--help"] ? 0 : 64
    }
    do {
      try await TapBenchmark(taps: taps).run()
      return 0
    } catch {
      print("tagroute-bench: \(error)")
      return 1
    }
  }
}
