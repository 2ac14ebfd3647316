import CommandLineTool
import Foundation
import Glibc
import TestKit
import Testing

/// `tagroute handlers --check FILE` with the real program, for apps that are only partly installed.
@Suite(.timeLimit(.minutes(5))) struct HandlersCheckTests {
  private let home: TemporaryDirectory

  init() throws { home = try TemporaryDirectory() }

  private func entry(_ lines: String) throws -> String {
    let claims = "Implements=org.tagroute.Handler1;\n\n[org.tagroute.Handler1]\nDomains=menu.example.com;\n"
    return try home.write(
      "[Desktop Entry]\nType=Application\nName=Menu\n\(lines)\n\(claims)",
      to: "data/applications/org.example.Menu.desktop")
  }

  private func service(_ lines: String, in folder: String) throws -> String {
    try home.write("[D-BUS Service]\nName=org.example.Menu\n\(lines)\n", to: "\(folder)/org.example.Menu.service")
  }

  private func check(
    _ file: String, starter: String = #function
  ) async throws -> (status: ChildProcess.ExitStatus, output: String) {
    let result = try await ChildProcess.run(
      BuiltProducts.program("tagroute"), ["handlers", "--check", file],
      environment: [
        "HOME": home.path, "PATH": "\(home.file("bin")):/usr/bin:/bin", "XDG_DATA_HOME": home.file("home"),
        "XDG_DATA_DIRS": home.file("system"), "XDG_RUNTIME_DIR": home.file("run"),
      ], starter: starter)
    return (result.status, result.output)
  }

  @Test(arguments: ["tagroute-no-such-menu %u", "/nonexistent/menu %u"])
  func `a missing program is named with the line of its entry`(exec: String) async throws {
    let file = try entry("Exec=\(exec)")
    let result = try await check(file)
    #expect(result.status == .exited(1))
    #expect(result.output.hasPrefix("\(file):4: "), "\(result.output)")
    #expect(result.output.contains("program \(exec.dropLast(3)), which Exec starts: install it"), "\(result.output)")
  }

  @Test func `an entry with an existing executable program is accepted`() async throws {
    try home.write("#!/bin/sh\n", to: "bin/menu", mode: 0o755)
    for exec in ["menu %u", "\(home.file("bin/menu")) %u"] {
      let result = try await check(try entry("Exec=\(exec)"))
      #expect(result.output.isEmpty && result.status == .exited(0), "\(result.output)")
    }
    try home.write("", to: "bin/menu", mode: 0o644)
    #expect(try await check(try entry("Exec=menu %u")).status == .exited(1))
  }

  @Test func `an app that is started over D-Bus needs a service file`() async throws {
    let file = try entry("DBusActivatable=true")
    let none = try await check(file)
    #expect(none.status == .exited(1))
    #expect(none.output.hasPrefix("\(file):4: no service file with Name=org.example.Menu lets the bus start it: "))
    // With an Exec line, clients can start the program without the bus.
    let withProgram = try await check(try entry("DBusActivatable=true\nExec=true"))
    #expect(withProgram.output.isEmpty, "\(withProgram.output)")
    try #require(try entry("DBusActivatable=true") == file)
    for folder in ["home/dbus-1/services", "system/dbus-1/services", "run/dbus-1/services", "data/applications"] {
      let service = try service("Exec=/bin/true", in: folder)
      #expect(try await check(file).output.isEmpty, "\(folder)")
      _ = try self.service("Exec=/nonexistent/menu --service", in: folder)
      let broken = try await check(file)
      #expect(
        broken.output.hasSuffix(
          "/org.example.Menu.service:3: there is no program /nonexistent/menu, which the bus starts for "
            + "org.example.Menu: install it\n"), "\(broken.output)")
      #expect(broken.output.contains(service.split(separator: "/").suffix(2).joined(separator: "/")))
      #expect(broken.status == .exited(1))
      // The check uses the next folder only if the ones before it have no service file.
      try #require(unlink(service) == 0)
    }
  }

  @Test func `a service file is found by its Name line, as the bus does`() async throws {
    let file = try entry("DBusActivatable=true")
    let services = "home/dbus-1/services"
    func write(_ name: String, to service: String, exec: String = "/bin/true") throws {
      try home.write("[D-BUS Service]\nName=\(name)\nExec=\(exec)\n", to: "\(services)/\(service).service")
    }
    // The name of the file itself is ignored.
    try write("org.example.Other", to: "org.example.Menu")
    #expect(try await check(file).output.contains("no service file with Name=org.example.Menu lets the bus start it"))
    try write("org.example.Menu", to: "menu")
    #expect(try await check(file).output.isEmpty)
    try write("org.example.Menu", to: "menu", exec: "/nonexistent/menu")
    #expect(try await check(file).output.contains("/menu.service:3: there is no program /nonexistent/menu"))
  }
}

/// The real program, on a bus with a double of the agent, and with a TLS server that answers for every domain.
@Suite(.timeLimit(.minutes(5))) struct HandlersVerifyTests {
  private func run(
    _ arguments: [String], environment: [String: String] = [:], starter: String = #function
  ) async throws -> (status: ChildProcess.ExitStatus, output: String, errors: [String]) {
    let doubles = try await BusOfDoubles(agent: true)
    defer { withExtendedLifetime(doubles) {} }
    let folder = try TemporaryDirectory()
    let result = try await ChildProcess.run(
      BuiltProducts.program("tagroute"), ["handlers"] + arguments,
      environment: [
        "DBUS_SYSTEM_BUS_ADDRESS": doubles.address, "DBUS_SESSION_BUS_ADDRESS": doubles.address,
        "XDG_STATE_HOME": folder.path,
      ].merging(environment) { _, given in given }, starter: starter)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty, "a trial must store no result")
    let output = Set(result.output.split(separator: "\n").map(String.init))
    return (result.status, result.output, result.log.filter { !output.contains($0) })
  }

  @Test func `verify ignores proxies in the environment and passwords in netrc`() async throws {
    let server = try await AssociationServer.shared.value
    let folder = try TemporaryDirectory()
    try folder.write("machine menu.example.com login somebody password secret\n", to: ".netrc")
    let proxies = ["https_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"].map { ($0, "http://127.0.0.1:9") }
    let result = try await run(
      ["verify", "org.example.Menu"] + trial(server.address),
      environment: Dictionary(uniqueKeysWithValues: proxies + [("HOME", folder.path)]))
    #expect(result.status == .exited(0), "\(result.output)")
    let requests = try await server.requests("menu")
    #expect(!requests.isEmpty && requests.allSatisfy { !$0.contains("Authorization") }, "\(requests)")
  }

  private func trial(_ address: String) async throws -> [String] {
    ["--server", address, "--authorities", try await AssociationServer.shared.value.authority]
  }

  @Test func `a domain that names its handler verifies it`() async throws {
    let server = try await AssociationServer.shared.value
    let text = try await run(["verify", "org.example.Menu"] + trial(server.address))
    #expect(text.errors.isEmpty)
    #expect(text.status == .exited(0))
    #expect(
      text.output == """
        menu.example.com: verified
          apple-app-site-association: names it
          assetlinks.json: names it

        """)
  }

  @Test func `the JSON report has the documented keys`() async throws {
    let server = try await AssociationServer.shared.value
    let text = try await run(["verify", "org.example.Menu.desktop", "--json"] + trial(server.address)).output
    let report = try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    #expect(report["handler"] as? String == "org.example.Menu.desktop")
    #expect(report["kept"] as? Bool == false)
    let domain = try #require((report["domains"] as? [[String: Any]])?.first)
    #expect(domain["domain"] as? String == "menu.example.com")
    #expect(domain["state"] as? String == "verified")
    #expect(domain["trusted"] as? Bool == true)
    let documents = try #require(domain["documents"] as? [[String: Any]])
    #expect(documents.map { $0["document"] as? String } == ["apple-app-site-association", "assetlinks.json"])
    #expect(documents.allSatisfy { $0["state"] as? String == "named" && $0["reason"] as? String == "" })
  }

  @Test func `a domain that cannot be asked exits with 75 and the reason`() async throws {
    let server = try await AssociationServer.shared.value
    // Debian's own OpenSSL configuration already rejects versions before TLS 1.2. Without it, this program has to
    // reject them.
    let folder = try TemporaryDirectory()
    let lax = try folder.write(
      """
      openssl_conf = all
      [all]
      ssl_conf = ssl
      [ssl]
      system_default = lax
      [lax]
      MinProtocol = TLSv1
      CipherString = ALL:@SECLEVEL=0
      """, to: "openssl.cnf")
    let result = try await run(
      ["verify", "org.example.Menu"] + trial(server.oldAddress), environment: ["OPENSSL_CONF": lax])
    #expect(result.status == .exited(75))
    #expect(result.output.hasPrefix("menu.example.com: failed\n  apple-app-site-association: no TLS 1.2"))
  }

  /// Runs in a separate process, which then reads how long its alarm still has to run.
  @Test func `a background run sets an alarm that ends it before the next one`() async throws {
    let doubles = try await BusOfDoubles(agent: true)
    defer { withExtendedLifetime(doubles) {} }
    let folder = try TemporaryDirectory()
    await #expect(processExitsWith: .success) { [address = doubles.address as String, path = folder.path as String] in
      setenv("DBUS_SESSION_BUS_ADDRESS", address, 1)
      setenv("XDG_STATE_HOME", path, 1)
      // The port is closed, so no domain can be asked.
      #expect(await CommandLineTool.run(["handlers", "verify", "--due", "--server", "127.0.0.1:9"]) == 0)
      #expect((2900...3000).contains(alarm(0)))
    }
  }

  @Test(arguments: [("org.example.Nobody", "no such handler"), ("broken", "no Exec")])
  func `a handler that cannot be verified exits with 1`(id: String, reason: String) async throws {
    let result = try await run(["verify", id])
    #expect(result.status == .exited(1))
    #expect(result.output == "")
    #expect(result.errors.first?.contains(reason) == true)
  }

  @Test(arguments: [
    ["verify"], ["verify", "a", "b"], ["verify", "a", "--due"], ["nonsense"], ["--due"], ["--server", "x"],
  ])
  func `wrong usage exits with 64`(arguments: [String]) async throws {
    #expect(try await run(arguments).status == .exited(64))
  }
}
