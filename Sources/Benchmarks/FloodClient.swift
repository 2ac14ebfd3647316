import Bus
import EventLoop
import Glibc
import Names
import Rig

/// One user's connections that call the daemon as fast as they are answered, in a process of their own.
struct FloodClient {
  /// What is called.
  enum Call: String, CaseIterable, Sendable {
    case registration = "RegisterAgent"
    case registrationWithDescriptors = "RegisterAgent with 16 descriptors"
    case session = "StartReaderSession"
    case property = "Get"
  }

  /// Calls of all connections together that wait for an answer: each may hold sixteen descriptors.
  private static let width = 1000
  /// Printed when all are connected and have begun.
  static let begun = "flooding"

  let address: BusAddress
  let call: Call
  let connections: Int

  /// - Parameter arguments: the bus, the call and the number of connections.
  init?(_ arguments: some Collection<String>) {
    let words = Array(arguments)
    guard words.count == 3, let call = Call(rawValue: words[1]), let number = Int(words[2]) else { return nil }
    (address, self.call, connections) = (BusAddress(words[0]), call, number)
  }

  /// Starts it in a process, as another user if this one is root.
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

  /// Calls until it is killed.
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
      // It is refused as fast as it is called, which is the point.
    }
  }
}
