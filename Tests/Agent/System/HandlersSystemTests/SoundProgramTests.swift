import EventLoop
import Glibc
import TestKit
import Testing

@testable import Handlers

@Suite(.timeLimit(.minutes(5))) struct SoundProgramTests {
  private let programs: TemporaryDirectory

  init() throws { programs = try TemporaryDirectory() }

  private func launcher(_ environment: [String: String] = ["DISPLAY": ":0"]) -> Launcher {
    Launcher(
      connection: nil, environment: ["PATH": programs.path].merging(environment) { $1 }, on: EventLoop(label: "test"))
  }

  /// Installs a player that records its arguments, and then runs `script`.
  private func install(_ script: String = "") throws {
    try programs.write(
      "#!/bin/sh\nPATH=/usr/bin:/bin\necho \"$@\" >> \"$0.played\"\n\(script)\n", to: "canberra-gtk-play", mode: 0o755)
  }

  private var played: [String] {
    let bytes = (try? readFile(programs.file("canberra-gtk-play.played"))) ?? []
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  @Test(arguments: ["DISPLAY", "WAYLAND_DISPLAY"]) func `the player gets the name of the sound`(
    display: String
  ) async throws {
    try install()
    await launcher([display: "0"]).play("dialog-error")
    #expect(played == ["--id=dialog-error"])
  }

  @Test func `without a display or a player no sound is played`() async throws {
    await launcher().play("dialog-error")
    try install()
    await launcher([:]).play("dialog-error")
    await launcher(["DISPLAY": ""]).play("dialog-error")
    #expect(played == [])
  }

  @Test func `a player that fails does not keep the next sound back`() async throws {
    try install("exit 1")
    let launcher = launcher()
    await launcher.play("dialog-error")
    await launcher.play("message-new-instant")
    #expect(played == ["--id=dialog-error", "--id=message-new-instant"])
  }

  @Test func `a player that hangs is killed`() async throws {
    try install("exec sleep 300")
    await launcher().play("dialog-error")
    #expect(played == ["--id=dialog-error"])
  }

  @Test func `one sound is played at a time`() async throws {
    try install("read line < \"$0.end\"")
    let path = programs.file("canberra-gtk-play.end")
    #expect(mkfifo(path, 0o600) == 0)
    // Open for both, so that neither side waits for the other one to open it.
    let end = open(path, O_RDWR | O_CLOEXEC)
    defer { close(end) }
    let launcher = launcher()
    await withTaskGroup { group in
      for _ in 0..<8 { group.addTask { await launcher.play("dialog-error") } }
      for _ in 0..<7 { await group.next() }
      #expect(write(end, "\n", 1) == 1)
    }
    #expect(played == ["--id=dialog-error"])
  }
}
