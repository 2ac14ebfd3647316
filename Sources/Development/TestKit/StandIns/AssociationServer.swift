/// A TLS server on loopback, with certificates from a private authority: `association-server.py`.
///
/// All tests of the process share one server, since a request does not affect the answers to others.
package final class AssociationServer: Sendable {
  /// The address of the server, `127.0.0.1:port`.
  package let address: String
  /// The address that supports TLS 1.1 at most.
  package let oldAddress: String
  /// The certificate file of the authority that signs the server's valid certificates.
  package let authority: String
  private let folder: TemporaryDirectory
  private let process: ChildProcess

  /// The only server of this process. It ends with the process.
  package static let shared = Task { try await AssociationServer() }

  private init() async throws {
    folder = try TemporaryDirectory()
    authority = folder.file("authority.pem")
    try await Self.makeCertificates(in: folder)
    let script = #filePath.split(separator: "/").dropLast().map { "/\($0)" }.joined() + "/association-server.py"
    process = try ChildProcess("/usr/bin/python3", [script, folder.path], input: true)
    let ports = try await process.line { $0.hasPrefix("ports ") }.split(separator: " ")
    address = "127.0.0.1:\(ports[1])"
    oldAddress = "127.0.0.1:\(ports[2])"
  }

  /// The requests that the server has begun to answer under a name with this first label, one line each: path and
  /// header fields.
  package func requests(_ label: String) async throws -> [String] {
    // The server prints this mark after all requests that it has begun to answer.
    let mark = "mark \(UInt64.random(in: 0 ... .max))"
    try await process.send(mark)
    _ = try await process.line { $0 == mark }
    return await process.log().filter { $0.hasPrefix("request \(label) ") }
  }

  private static func makeCertificates(in folder: TemporaryDirectory) async throws {
    try folder.write("subjectAltName=DNS:*.example.com\n", to: "server.ext")
    try folder.write("subjectAltName=DNS:*.example.org\n", to: "elsewhere.ext")
    let commands = [
      "ecparam -name prime256v1 -genkey -noout -out authority.key",
      "req -x509 -new -key authority.key -subj /CN=Tagroute.test -days 30 -out authority.pem",
      "ecparam -name prime256v1 -genkey -noout -out server.key",
      "req -new -key server.key -subj /CN=server -out server.csr",
      sign("server", "server", "-days 30"),
      sign("elsewhere", "elsewhere", "-days 30"),
      sign("expired", "server", "-days -1"),
      "req -x509 -new -key server.key -subj /CN=server -addext subjectAltName=DNS:*.example.com -days 30 -out selfsigned.pem",
    ]
    let openssl = try BuiltProducts.systemProgram("openssl", package: "openssl")
    for command in commands {
      let arguments = command.split(separator: " ").map { word in
        // Replaces the folder's file names by absolute paths.
        [".key", ".pem", ".csr", ".ext"].contains { word.hasSuffix($0) } ? folder.file(String(word)) : String(word)
      }
      let run = try await ChildProcess.run(openssl, arguments)
      guard run.status == .exited(0) else { throw RigError("openssl \(command): \(run.log)") }
    }
  }

  private static func sign(_ name: String, _ extensions: String, _ validity: String) -> String {
    "x509 -req -in server.csr -CA authority.pem -CAkey authority.key -set_serial 7 -extfile \(extensions).ext \(validity)"
      + " -out \(name).pem"
  }
}
