package import EventLoop
import ReaderProtocol

/// Lists the readers that libnfc finds. Runs in a separate process, because the daemon does not load libnfc.
package actor ReaderDiscovery {
  package struct Failure: Error, Sendable, Hashable, CustomStringConvertible {
    package let description: String
  }

  package nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  /// How long libnfc may search.
  private static let allowance = Duration.seconds(10)

  private nonisolated let loop: EventLoop
  private let program: String
  private let looksForMore: Bool
  private var process: ListProcess?
  private var found: [String]?
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
    let process = ListProcess(on: loop) { [self] event in assumeIsolated { $0.receive(event) } }
    self.process = process
    timer = loop.schedule(after: Self.allowance) { process.assumeIsolated { $0.kill("did not end in time") } }
    let (program, environment) = (program, looksForMore ? [] : ["LIBNFC_AUTO_SCAN=false"])
    try process.assumeIsolated { process in
      Result { () throws(SystemError) in try process.start(program, environment: environment) }
    }.get()
  }

  private func receive(_ event: ListProcess.Event) {
    switch event {
    case .list(.devices(let devices)) where found == nil: found = Self.connectionStrings(devices)
    case .list: process?.assumeIsolated { $0.kill("sent another list than it was asked for") }
    case .failed(let error): finish(.failure(Failure(description: error.description)))
    case .ended(ReaderChild.success): finish(.success(found ?? []))
    case .ended(let how): finish(.failure(Failure(description: "\(program) --list \(how)")))
    }
  }

  /// Those that are connection strings, each once: a driver's name, and optionally a colon and the driver's name for the
  /// device.
  private static func connectionStrings(_ devices: [String]) -> [String] {
    var strings: [String] = []
    for device in devices where !strings.contains(device) {
      // The name of a PC/SC reader may contain spaces.
      guard device.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else { continue }
      let driver = device.utf8.prefix { $0 != UInt8(ascii: ":") }
      if !driver.isEmpty, driver.allSatisfy(isOfDriver) { strings.append(device) }
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
    (timer, process) = (nil, nil)
    waiter?.resume(returning: result)
    waiter = nil
  }
}
