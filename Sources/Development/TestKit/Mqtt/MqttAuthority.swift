import Rig

/// A certificate authority of one test, made by openssl, with certificates for a broker.
package struct MqttAuthority: Sendable {
  /// A certificate and its key, as PEM files.
  package struct Certificate: Sendable, Hashable {
    /// The certificate.
    package let file: String
    /// The private key.
    package let key: String
  }

  /// The certificate of the authority.
  package let file: String
  /// A folder with that certificate under the name by which OpenSSL finds it.
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

  /// Makes an authority and its certificates.
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
