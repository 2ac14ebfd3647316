import EventLoop
import Glibc
import Rig

/// The real Mosquitto in its own directory. It keeps its storage over a restart.
///
/// It listens on Unix sockets, so that no other process can take its address while it is restarted. Clients that need a
/// port use an ``MqttProxy``, on a port that the kernel chooses.
package actor Mosquitto {
  package struct Options: Sendable {
    /// Users and their passwords. If it is empty, everyone may connect.
    package var users: [String: String] = [:]
    /// The lines of an ACL file (mosquitto.conf(5)). If it is empty, everyone may do everything.
    package var acl = ""
    /// The certificate of a second socket, for TLS; nil for no such socket.
    package var certificate: MqttAuthority.Certificate?
    /// Clients need a certificate of this authority at that socket; nil if they need none. The name in a certificate is
    /// the user and the client id.
    package var clientAuthority: String?
    /// Whether it saves its storage after each change. That takes milliseconds for each message.
    package var isPersistent = true
    /// Whether it also listens on a port of the loopback. Only for measurements: another process can take the port.
    package var hasPort = false

    package init() {}
  }

  /// The socket without TLS.
  package nonisolated let socket: String
  /// The socket with TLS, if there is a certificate.
  package nonisolated let tlsSocket: String
  /// The port on 127.0.0.1; 0 without one.
  package nonisolated let port: UInt16
  private nonisolated let directory: TemporaryDirectory
  private nonisolated let starter: String
  private var options: Options
  private var process: ChildProcess?

  /// Starts a broker, and waits until it listens. `starter` names the log.
  package init(_ options: Options = Options(), starter: String = #function) async throws {
    directory = try TemporaryDirectory()
    (self.options, self.starter) = (options, starter)
    socket = directory.file("socket")
    tlsSocket = directory.file("tls")
    port = try options.hasPort ? Self.freePort() : 0
    mkdir(directory.file("storage"), 0o700)
    try await start()
  }

  /// The process id; nil while it does not run.
  package var identifier: Int32? { process?.identifier }

  package func start() async throws {
    try await configure()
    for path in [socket, tlsSocket] { unlink(path) }
    let program = try BuiltProducts.systemProgram("mosquitto", package: "mosquitto")
    let process = try ChildProcess(program, ["-c", directory.file("mosquitto.conf")], starter: starter)
    try await process.line(containing: " running")
    self.process = process
  }

  /// Kills the broker, as a crash would. With `wipe`, its storage is lost.
  package func kill(wipe: Bool = false) async throws {
    signal(SIGKILL)
    try await process?.exit()
    process = nil
    if wipe { unlink(directory.file("storage/mosquitto.db")) }
  }

  /// The number of lines in its log so far, for ``line(after:matching:)``.
  package func mark() async -> Int { await process?.log().count ?? 0 }

  /// Waits for a line in its log, which names every packet, after a position.
  package func line(after mark: Int, matching: @escaping @Sendable (String) -> Bool) async throws {
    guard let process else { throw RigError("the broker does not run") }
    _ = try await process.line(after: mark, matching: matching)
  }

  /// Ends it as systemd would.
  package func stop() async throws {
    try await process?.exit(after: SIGTERM)
    process = nil
  }

  /// Sends a signal. SIGSTOP makes the broker unresponsive until SIGCONT.
  package func signal(_ number: Int32) { process?.signal(number) }

  /// Uses other options from the next start on. An ACL counts at once.
  package func use(_ change: @Sendable (inout Options) -> Void) async throws {
    change(&options)
    try await configure()
    guard let process else { return }
    let seen = await process.log().count
    process.signal(SIGHUP)
    try await process.line(containing: "Reloading config", after: seen)
  }

  /// Publishes a message with QoS 1 as another program would, and returns once the broker has it.
  package func publish(_ payload: String, to topic: String, isRetained: Bool = false, count: Int = 1) async throws {
    let program = try BuiltProducts.systemProgram("mosquitto_pub", package: "mosquitto-clients")
    let arguments =
      ["--unix", socket, "-q", "1", "-t", topic, "-m", payload] + (isRetained ? ["-r"] : [])
      + (count > 1 ? ["--repeat", "\(count)"] : [])
    let run = try await ChildProcess.run(program, arguments, starter: starter)
    guard run.status == .exited(0) else { throw RigError("mosquitto_pub: \(run.log)") }
  }

  private func configure() async throws {
    var lines = [
      // As root, Mosquitto would become another user and could not read this directory. Otherwise it ignores the line.
      "user root",
      "persistence \(options.isPersistent)", "persistence_location \(directory.file("storage"))/",
      "autosave_on_changes true", "autosave_interval 1",
      // A referee that is slow must not lose messages.
      "max_queued_messages 0",
      // Standard output would arrive in blocks.
      "log_dest stderr", "log_type all", "allow_anonymous \(options.users.isEmpty)",
    ]
    if !options.users.isEmpty {
      let file = try await writePasswords()
      lines.append("password_file \(file)")
    }
    if !options.acl.isEmpty {
      let file = try directory.write(options.acl, to: "acl", mode: 0o600)
      lines.append("acl_file \(file)")
    }
    lines.append("listener 0 \(socket)")
    if port > 0 { lines.append("listener \(port) 127.0.0.1") }
    if let certificate = options.certificate {
      lines += ["listener 0 \(tlsSocket)", "certfile \(certificate.file)", "keyfile \(certificate.key)"]
      if let authority = options.clientAuthority {
        lines += [
          "cafile \(authority)", "require_certificate true", "use_identity_as_username true",
          "use_username_as_clientid true",
        ]
      }
    }
    try directory.write(lines.map { $0 + "\n" }.joined(), to: "mosquitto.conf")
  }

  private func writePasswords() async throws -> String {
    let program = try BuiltProducts.systemProgram("mosquitto_passwd", package: "mosquitto")
    let file = try directory.write("", to: "passwords", mode: 0o600)
    for (user, password) in options.users {
      let run = try await ChildProcess.run(program, ["-b", file, user, password], starter: starter)
      guard run.status == .exited(0) else { throw RigError("mosquitto_passwd: \(run.log)") }
    }
    return file
  }

  private static func freePort() throws -> UInt16 {
    let descriptor = FileDescriptor(owning: Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(descriptor.rawValue, address, length) == 0 && getsockname(descriptor.rawValue, address, &length) == 0
      }
    }
    guard isBound else { throw SystemError("find a free port") }
    return UInt16(bigEndian: address.sin_port)
  }
}

/// A certificate authority of one test, made by openssl, with certificates for a broker.
package struct MqttAuthority: Sendable {
  /// A certificate and its key, as PEM files.
  package struct Certificate: Sendable, Hashable {
    package let file: String
    package let key: String
  }

  /// The certificate of the authority.
  package let file: String
  /// A folder with that certificate, under the name that OpenSSL looks for.
  package let folder: String
  /// Valid for `localhost`.
  package let valid: Certificate
  /// For `localhost`, and expired yesterday.
  package let expired: Certificate
  /// Valid, for another host name.
  package let elsewhere: Certificate
  /// For the client `desk`.
  package let client: Certificate
  private let directory: TemporaryDirectory

  package init() async throws {
    directory = try TemporaryDirectory()
    file = directory.file("authority.pem")
    folder = directory.file("authorities")
    let key = directory.file("server.key")
    valid = Certificate(file: directory.file("valid.pem"), key: key)
    expired = Certificate(file: directory.file("expired.pem"), key: key)
    elsewhere = Certificate(file: directory.file("elsewhere.pem"), key: key)
    client = Certificate(file: directory.file("client.pem"), key: key)
    try directory.write("subjectAltName=DNS:localhost,IP:127.0.0.1\n", to: "here.ext")
    try directory.write("subjectAltName=DNS:elsewhere.example\n", to: "elsewhere.ext")
    try await openssl("ecparam -name prime256v1 -genkey -noout -out authority.key")
    try await openssl("req -x509 -new -key authority.key -subj /CN=Tagroute.test -days 30 -out authority.pem")
    try directory.write(try readFile(file), to: "authorities/authority.pem")
    try await openssl("rehash \(folder)")
    try await openssl("ecparam -name prime256v1 -genkey -noout -out server.key")
    try await openssl("req -new -key server.key -subj /CN=server -out server.csr")
    try await sign("valid", "here", days: 30)
    try await sign("expired", "here", days: -1)
    try await sign("elsewhere", "elsewhere", days: 30)
    try await openssl("req -new -key server.key -subj /CN=desk -out server.csr")
    try await sign("client", "here", days: 30)
  }

  private func sign(_ name: String, _ extensions: String, days: Int) async throws {
    try await openssl(
      "x509 -req -in server.csr -CA authority.pem -CAkey authority.key -set_serial 7 -extfile \(extensions).ext"
        + " -days \(days) -out \(name).pem")
  }

  private func openssl(_ command: String) async throws {
    let arguments = command.split(separator: " ").map { word in
      [".key", ".pem", ".csr", ".ext"].contains { word.hasSuffix($0) } ? directory.file(String(word)) : String(word)
    }
    let run = try await ChildProcess.run(
      try BuiltProducts.systemProgram("openssl", package: "openssl"), arguments, starter: "MqttAuthority")
    guard run.status == .exited(0) else { throw RigError("openssl \(command): \(run.log)") }
  }
}

/// A TCP proxy in front of a broker, which breaks connections at chosen places: `mqtt-proxy.py`, which documents the
/// commands and the events.
package final class MqttProxy: Sendable {
  /// The port on 127.0.0.1, chosen by the kernel.
  package let port: String
  private let process: ChildProcess

  /// Starts a proxy for the broker at a Unix socket. `starter` names the log.
  package init(to socket: String, starter: String = #function) async throws {
    let script = #filePath.split(separator: "/").dropLast().map { "/\($0)" }.joined() + "/mqtt-proxy.py"
    process = try ChildProcess("/usr/bin/python3", [script, socket], input: true, starter: starter)
    port = String(try await process.line { $0.hasPrefix("port ") }.dropFirst("port ".count))
    atEndOfTest { [process] in try await process.exit(after: SIGKILL) }
  }

  /// Gives a command, and returns once it is in force. The result is the position in the log before it, for
  /// ``event(_:after:)``.
  @discardableResult package func command(_ command: String) async throws -> Int {
    let seen = await mark()
    try await process.send(command)
    _ = try await process.line(after: seen) { $0 == "ok \(command)" }
    return seen
  }

  /// The present position in the log.
  package func mark() async -> Int { await process.log().count }

  /// Waits for an event with this beginning, after a position in the log.
  package func event(_ beginning: String, after mark: Int) async throws {
    _ = try await process.line(after: mark) { $0.hasPrefix(beginning) }
  }

  /// Waits until `count` events with this beginning have come after a position in the log.
  package func events(_ beginning: String, count: Int, after mark: Int) async throws {
    let left = Countdown(count)
    _ = try await process.line(after: mark) { $0.hasPrefix(beginning) && left.next() == 0 }
  }
}
