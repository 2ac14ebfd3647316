import Glibc
import Rig
import TagrouteClient
import Testing

@testable import Demo

/// What a demo that failed prints.
@Suite struct DemoLogsTests {
  private let logs: DemoLogs

  init() {
    var logs = DemoLogs()
    logs.add("tagrouted", ["<6>scanning", "<4>the reader is slow", "<3>the reader is gone"])
    logs.add("dunst", ["one", "two", "three", "four"])
    self.logs = logs
  }

  @Test func `only warnings and errors are printed`() {
    #expect(logs.warnings == ["tagrouted: the reader is slow", "tagrouted: the reader is gone"])
  }

  @Test func `only the last warnings are printed`() {
    var logs = DemoLogs()
    logs.add("tagrouted", (1...50).map { "<4>warning \($0)" })
    #expect(logs.warnings == (41...50).map { "tagrouted: warning \($0)" })
  }

  @Test func `an error has the last line of the log of its process`() {
    #expect(DemoLogs.line(for: RigError("Xvfb ended", log: ["starting", "no socket", ""])) == "Xvfb ended: no socket")
    #expect(DemoLogs.line(for: RigError("nothing is known")) == "nothing is known")
  }

  @Test func `the file has all lines`() throws {
    let path = try logs.store()
    defer { unlink(path) }
    let text = String(decoding: try readFile(path), as: UTF8.self)
    #expect(text.hasPrefix("== tagrouted\n<6>scanning\n"))
    #expect(text.hasSuffix("== dunst\none\ntwo\nthree\nfour\n"))
  }

  @Test(arguments: [
    ("dismissed", "", "run the demo again"), ("expired", "", "run the demo again"),
    ("failed", "no program", "(no program)"), ("failed", "", "(failed)"), ("delivered", "", "did not print"),
  ])
  func `the end of a tap is explained`(state: String, reason: String, words: String) {
    var tap = TapDescription()
    (tap.state, tap.stateReason) = (state, reason)
    #expect(Demo.failure(of: tap).contains(words))
  }
}
