public import EventLoop
import Glibc

/// Lists the readers that libnfc finds. Runs in a separate process, because the daemon does not load libnfc.
public actor ReaderDiscovery {
  /// Why the readers could not be listed.
  public struct Failure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The cause, for a person.
    public let description: String
  }

  /// The loop that owns this actor.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  /// How long libnfc may search.
  private static let allowance = Duration.seconds(10)
  /// The most bytes that are read of the output. Each of libnfc's strings has at most 1,024 bytes.
  private static let mostBytes = 16 * 1024

  /// The most readers that are taken from the output.
  static let mostDevices = 16

  private nonisolated let loop: EventLoop
  private let program: String
  private let looksForMore: Bool
  private var output: [UInt8] = []
  private var watch: DescriptorWatch?
  private var child: pid_t?
  private var waiter: CheckedContinuation<Result<[String], Failure>, Never>?

  /// Finds the readers that libnfc knows, in libnfc's order, as connection strings. `program` is the absolute path of
  /// `tagroute-reader`.
  ///
  /// With `looksForMore`, libnfc also searches for connected readers, and opens readers to do so. Otherwise it lists
  /// only the readers in its configuration. Fails if the process cannot be started or does not exit with code 0.
  public static func devices(
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
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw SystemError("make a pipe") }
    let reading = FileDescriptor(owning: ends[0])
    let writing = FileDescriptor(owning: ends[1])
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    _ = fcntl(reading.rawValue, F_SETFL, O_NONBLOCK)
    watch = try DescriptorWatch(reading, on: loop) { [self] in assumeIsolated { $0.read(reading) } }
    let timer = loop.schedule(after: Self.allowance) { [self] in
      assumeIsolated { if let child = $0.child { kill(child, SIGKILL) } }
    }
    let environment = looksForMore ? [] : ["LIBNFC_AUTO_SCAN=false"]
    try ReaderChild.start(
      [program, "--list"], environment: environment, output: writing, link: nil, on: loop
    ) { [self] event in
      assumeIsolated { discovery in
        switch event {
        case .started(let child): discovery.child = child
        case .failed(let error):
          timer.cancel()
          discovery.finish(.failure(Failure(description: error.description)))
        case .ended(let child):
          timer.cancel()
          discovery.ended(ReaderChild.reap(child), reading)
        }
      }
    }
  }

  private func read(_ descriptor: FileDescriptor) {
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = Glibc.read(descriptor.rawValue, &bytes, bytes.count)
    if count < 0 && (errno == EAGAIN || errno == EINTR) { return }
    guard count > 0, output.count + count <= Self.mostBytes else {
      watch?.cancel()
      // The output has ended, or it is longer than any valid output.
      if count > 0, let child { kill(child, SIGKILL) }
      return
    }
    output += bytes.prefix(count)
  }

  private func ended(_ how: String, _ descriptor: FileDescriptor) {
    child = nil
    for _ in 0...Self.mostBytes / 4096 { read(descriptor) }
    guard how == ReaderChild.success else {
      return finish(.failure(Failure(description: "\(program) --list \(how)")))
    }
    finish(.success(Self.connectionStrings(output)))
  }

  /// The lines that are connection strings, each once: a driver's name, and optionally a colon and the driver's name
  /// for the device.
  private static func connectionStrings(_ output: [UInt8]) -> [String] {
    var strings: [String] = []
    for line in output.split(separator: UInt8(ascii: "\n")) {
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
    watch?.cancel()
    watch = nil
    waiter?.resume(returning: result)
    waiter = nil
  }
}
