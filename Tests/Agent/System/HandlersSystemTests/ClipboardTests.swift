import EventLoop
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
    #expect(launcher.canCopy == expected)
    let outcome = await launcher.copy("text")
    #expect((outcome == .delivered) == expected)
    if !expected { #expect(outcome == .failed(HandOverFailure(.noClipboard))) }
  }

  @Test func `a file that is not executable is not used`() throws {
    try install("wl-copy", mode: 0o644)
    #expect(!launcher(["WAYLAND_DISPLAY": "w"]).canCopy)
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
