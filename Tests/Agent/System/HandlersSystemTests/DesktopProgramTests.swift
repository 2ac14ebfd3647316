import EventLoop
import Glibc
import TestKit
import Testing

@testable import Handlers

@Suite(.timeLimit(.minutes(5))) struct ClipboardTests {
  private let programs: TemporaryDirectory

  init() throws { programs = try TemporaryDirectory() }

  private func launcher(_ environment: [String: String]) -> Launcher {
    Launcher(
      connection: nil, environment: ["PATH": programs.path].merging(environment) { $1 }, on: EventLoop(label: "test"))
  }

  private func install(_ name: String, mode: UInt32 = 0o755, _ script: String = "cat > \"$0.text\"") throws {
    try programs.write(
      "#!/bin/sh\nPATH=/usr/bin:/bin\necho \"$@\" > \"$0.arguments\"\n\(script)\n", to: name, mode: mode)
  }

  private func text(_ name: String) throws -> String {
    String(decoding: try readFile(programs.file(name)), as: UTF8.self)
  }

  @Test(
    arguments: [
      (["wl-copy"], ["WAYLAND_DISPLAY": "w"], true), (["wl-copy"], ["DISPLAY": ":0"], false),
      (["xclip"], ["DISPLAY": ":0"], true), (["xsel"], ["DISPLAY": ":0"], true),
      (["xsel"], ["DISPLAY": ":0", "WAYLAND_DISPLAY": "w"], true), (["xclip"], ["WAYLAND_DISPLAY": "w"], false),
      (["wl-copy", "xclip", "xsel"], [:], false), (["wl-copy"], ["WAYLAND_DISPLAY": ""], false),
      ([], ["DISPLAY": ":0", "WAYLAND_DISPLAY": "w"], false),
    ] as [([String], [String: String], Bool)])
  func `copying needs a display and a program for it`(
    installed: [String], environment: [String: String], expected: Bool
  ) async throws {
    for name in installed { try install(name) }
    let launcher = launcher(environment)
    let outcome = await launcher.copy("text")
    #expect((outcome == .delivered) == expected)
    if !expected { #expect(outcome == .failed(HandOverFailure(.noClipboard))) }
  }

  @Test func `a file that is not executable is not used`() async throws {
    try install("wl-copy", mode: 0o644)
    #expect(await launcher(["WAYLAND_DISPLAY": "w"]).copy("text") == .failed(HandOverFailure(.noClipboard)))
  }

  @Test func `the first program that is found gets the whole text on standard input`() async throws {
    for name in ["wl-copy", "xclip", "xsel"] { try install(name) }
    let words = "a $(b)\n'c' " + String(repeating: "x", count: 100_000)
    #expect(await launcher(["DISPLAY": ":0", "WAYLAND_DISPLAY": "w"]).copy(words) == .delivered)
    #expect(try text("wl-copy.text") == words)
    #expect(try text("wl-copy.arguments") == "--type text/plain\n")
    #expect(await launcher(["DISPLAY": ":0"]).copy("to X11") == .delivered)
    #expect(try text("xclip.text") == "to X11")
  }

  @Test func `copying fails if the program fails`() async throws {
    try install("wl-copy", "exit 1")
    let outcome = await launcher(["WAYLAND_DISPLAY": "w"]).copy("text")
    #expect(outcome == .failed(HandOverFailure(.notCopied, "wl-copy")))
  }
}

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
