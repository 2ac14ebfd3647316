package import EventLoop
import ReaderProtocol

/// Lists the readers that libnfc finds. Runs in a separate process, because the daemon does not load libnfc.
package actor ReaderDiscovery {
  /// Why the readers could not be listed.
  package struct Failure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The cause, for a person.
    package let description: String
  }

  /// The loop that owns this actor.
  package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  /// How long libnfc may search.
  private static let allowance = Duration.seconds(10)
  /// The most bytes that are read of the output. Each of libnfc's strings has at most 1,024 bytes.
  private static let mostBytes = 16 * 1024

  /// The most readers that are taken from the output.
  static let mostDevices = 16

  private nonisolated let loop: EventLoop
  private let program: String
  private let looksForMore: Bool
  private var lines: [[UInt8]] = []
  private var timer: LoopTimer?
  private var waiter: CheckedContinuation<Result<[String], Failure>, Never>?

  /// Finds the readers that libnfc knows, in libnfc's order, as connection strings. `program` is the absolute path of
  /// `tagroute-reader`.
  ///
  /// With `looksForMore`, libnfc also searches for connected readers, and opens readers to do so. Otherwise it lists
  /// only the readers in its configuration. Fails if the process cannot be started or does not exit with code 0.
  package static func devices(
    program: String, lookingForMore looksForMore: Bool = true, on loop: EventLoop
  ) async throws(Failure) -> [String] {
    try await ReaderDiscovery(program, looksForMore, loop).run().get()
  }

  private init(_ program: String, _ looksForMore: Bool, _ loop: EventLoop) {
    self.program = program
    self.looksForMore = looksForMore
    self.loop = loop
  }

  private func run() async -> Result<[String], Failure> {
    await withCheckedContinuation { continuation in
      waiter = continuation
      do throws(SystemError) {
        try start()
      } catch {
        finish(.failure(Failure(description: error.description)))
      }
    }
  }

  private func start() throws(SystemError) {
    let limits = LineProcess.Limits(line: Self.mostBytes, total: Self.mostBytes)
    let process = LineProcess(limits, on: loop) { [self] event in assumeIsolated { $0.receive(event) } }
    timer = loop.schedule(after: Self.allowance) { process.assumeIsolated { $0.kill("did not end in time") } }
    let (arguments, environment) = ([program, "--list"], looksForMore ? [] : ["LIBNFC_AUTO_SCAN=false"])
    try process.assumeIsolated { process in
      Result { () throws(SystemError) in try process.start(arguments, environment: environment) }
    }.get()
  }

  private func receive(_ event: LineProcess.Event) {
    switch event {
    case .line(let line): lines.append(line)
    case .closedOutput: break
    case .failed(let error): finish(.failure(Failure(description: error.description)))
    case .ended(ReaderChild.success): finish(.success(Self.connectionStrings(lines)))
    case .ended(let how): finish(.failure(Failure(description: "\(program) --list \(how)")))
    }
  }

  /// The lines that are connection strings, each once: a driver's name, and optionally a colon and the driver's name
  /// for the device.
  private static func connectionStrings(_ lines: [[UInt8]]) -> [String] {
    var strings: [String] = []
    for line in lines {
      // The name of a PC/SC reader may contain spaces.
      guard line.count < ReaderLimits.text, line.allSatisfy({ (0x20...0x7E).contains($0) }) else { continue }
      let driver = line.prefix { $0 != UInt8(ascii: ":") }
      guard !driver.isEmpty, driver.allSatisfy(isOfDriver) else { continue }
      let string = String(decoding: line, as: UTF8.self)
      if !strings.contains(string) { strings.append(string) }
      if strings.count == mostDevices { break }
    }
    return strings
  }

  private static func isOfDriver(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"): true
    default: false
    }
  }

  private func finish(_ result: Result<[String], Failure>) {
    timer?.cancel()
    timer = nil
    waiter?.resume(returning: result)
    waiter = nil
  }
}
