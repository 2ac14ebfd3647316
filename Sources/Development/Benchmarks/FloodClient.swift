import Bus
import EventLoop
import Glibc
import Names
import TestKit

/// The connections of one user, in a separate process. Each calls the daemon as fast as the daemon replies.
struct FloodClient {
  enum Call: String, CaseIterable, Sendable {
    case registration = "RegisterAgent"
    case registrationWithDescriptors = "RegisterAgent with 16 descriptors"
    case session = "StartReaderSession"
    case property = "Get"
  }

  /// The number of pending calls of all connections together. Each call may hold sixteen descriptors.
  private static let width = 1000
  /// Printed when all connections are open and calling.
  static let begun = "flooding"

  let address: BusAddress
  let call: Call
  let connections: Int

  /// The arguments are the address of the bus, the call, and the number of connections.
  init?(_ arguments: some Collection<String>) {
    let words = Array(arguments)
    guard words.count == 3, let call = Call(rawValue: words[1]), let number = Int(words[2]) else { return nil }
    (address, self.call, connections) = (BusAddress(words[0]), call, number)
  }

  /// Starts the client in a process, which runs as another user if this one is root.
  static func start(
    _ call: Call, connections: Int, on bus: PrivateBus, environment: [String: String]
  ) async throws -> ChildProcess {
    let own = ["/proc/\(getpid())/exe", "flood-client", bus.address, call.rawValue, "\(connections)"]
    let process =
      geteuid() == 0
      ? try ChildProcess(
        "/usr/bin/setpriv",
        ["--reuid=65534", "--regid=65534", "--clear-groups"] + [try path(of: own[0])] + own.dropFirst(),
        environment: environment)
      : try ChildProcess(path(of: own[0]), Array(own.dropFirst()), environment: environment)
    try await process.line(containing: begun)
    return process
  }

  private static func path(of link: String) throws -> String {
    guard let path = realpath(link, nil) else { throw SystemError("find \(link)") }
    defer { free(path) }
    return String(cString: path)
  }

  /// Calls the daemon until the process is killed.
  func run() async throws {
    var limit = rlimit()
    if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
      limit.rlim_cur = limit.rlim_max
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
    let loop = EventLoop(label: "flood")
    var all: [Connection] = []
    for _ in 0..<connections { all.append(try await Connection.open(address, on: loop)) }
    await withTaskGroup(of: Void.self) { group in
      for connection in all {
        for _ in 0..<max(Self.width / connections, 1) {
          group.addTask { while !Task.isCancelled { await once(connection) } }
        }
      }
      print(Self.begun)
      fflush(nil)
      await group.waitForAll()
    }
  }

  private func once(_ connection: Connection) async {
    let (interface, member, arguments): (String, String, [Value])
    switch call {
    case .registration:
      (interface, member) = (Names.Daemon.managerInterface, "RegisterAgent")
      arguments = [.objectPath("/a"), .dictionary([:])]
    case .registrationWithDescriptors:
      (interface, member) = (Names.Daemon.managerInterface, "RegisterAgent")
      let null = FileDescriptor(owning: open("/dev/null", O_RDONLY | O_CLOEXEC))
      arguments = [
        .objectPath("/a"),
        .dictionary(["d": .array(element: "h", (0..<16).map { _ in .unixFD(null) })]),
      ]
    case .session:
      (interface, member, arguments) = (Names.Daemon.managerInterface, "StartReaderSession", [.dictionary([:])])
    case .property:
      (interface, member) = ("org.freedesktop.DBus.Properties", "Get")
      arguments = [.string(Names.Daemon.managerInterface), .string("Scanning")]
    }
    do throws(BusError) {
      _ = try await connection.call(
        Names.Daemon.busName, try ObjectPath(Names.Daemon.path), interface, member, arguments)
    } catch {
      // The daemon refuses the calls as fast as they come. That is the purpose of the flood.
    }
  }
}
