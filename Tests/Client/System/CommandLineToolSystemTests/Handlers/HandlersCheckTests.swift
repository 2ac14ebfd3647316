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
            + "org.example.Menu.desktop: install it\n"), "\(broken.output)")
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
