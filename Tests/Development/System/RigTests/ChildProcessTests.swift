import Glibc
import Testing

@testable import Rig

@Suite struct ChildProcessTests {
  @Test func `output and exit code are reported`() async throws {
    let result = try await ChildProcess.run("/bin/sh", ["-c", "echo out; echo err >&2; printf last; exit 3"])
    #expect(result.status == .exited(3))
    #expect(result.output == "out\nlast\n")
    #expect(Set(result.log) == ["out", "err", "last"])
  }

  @Test func `the signal that ended a process is reported`() async throws {
    let process = try ChildProcess("/bin/sleep", ["100"])
    process.signal(9)
    #expect(try await process.exit() == .signalled(9))
  }

  @Test func `waiting for a line that never comes fails with the log`() async throws {
    let process = try ChildProcess("/bin/sh", ["-c", "echo something else"])
    let error = await #expect(throws: RigError.self) { try await process.line(containing: "wanted") }
    #expect(error?.log == ["something else"])
    #expect(error?.message.contains("something else") == false)
    #expect(error?.description.contains("something else") == true)
  }

  @Test func `lines can be sent and received`() async throws {
    let process = try ChildProcess("/bin/cat", input: true)
    try await process.send("first")
    try await process.line(containing: "first")
    try await process.send("second")
    #expect(try await process.line(containing: "", after: 1) == "second")
  }

  @Test func `a child process inherits only the three standard descriptors`() async throws {
    let result = try await ChildProcess.run("/bin/ls", ["/proc/self/fd"])
    // The fourth is the directory that `ls` itself has open.
    #expect(result.output == "0\n1\n2\n3\n")
  }
}

@Suite struct PrivateBusTests {
  @Test func `a restarted bus listens at the same address`() async throws {
    let bus = try await PrivateBus.start()
    let busctl = try BuiltProducts.systemProgram("busctl", package: "systemd")
    for _ in 0..<2 {
      let result = try await ChildProcess.run(busctl, ["--address=\(bus.address)", "list", "--no-legend"])
      #expect(result.status == .exited(0))
      #expect(result.output.contains("org.freedesktop.DBus"))
      try await bus.restart()
    }
  }
}

/// An installed `tagroute` is in `bin`. Programs that users do not start themselves are in `libexec`. The demo finds
/// both.
@Suite struct BuiltProductsTests {
  @Test func `programs are found beside this one or in libexec`() throws {
    let directory = try TemporaryDirectory()
    for file in ["bin/tagroute-simulator", "libexec/tagrouted"] {
      try directory.write("", to: file)
      chmod(directory.file(file), 0o755)
    }
    let bin = directory.file("bin")
    #expect(try BuiltProducts.program("tagroute-simulator", beside: bin) == "\(bin)/tagroute-simulator")
    #expect(try BuiltProducts.program("tagrouted", beside: bin) == "\(bin)/../libexec/tagrouted")
    let error = #expect(throws: RigError.self) { try BuiltProducts.program("tagroute-agent", beside: bin) }
    #expect(error?.description.contains("install it") == true)
  }
}
