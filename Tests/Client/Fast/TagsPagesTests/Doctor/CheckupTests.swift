import TagsPages
import Testing

@testable import Doctor

struct CheckupTests {
  private var checkup = Checkup()
  private let wrong = Finding.wrong(.pcscd, "pcscd is not installed", .run("sudo apt-get install pcscd", "then wait"))
  private let right = Finding.right(.daemon, "answers")

  @Test mutating func whatIsWrongIsExaminedAgainLessAndLessOften() {
    #expect(checkup.handle(.changed) == [.examine])
    #expect(checkup.handle(.examined([right, wrong])) == [.show, .pause(.seconds(2))])
    #expect(checkup.handle(.pauseEnded) == [.examine])
    #expect(checkup.handle(.examined([right, wrong])) == [.pause(.seconds(4))])
    // A change may have been the fix.
    #expect(checkup.handle(.changed) == [.examine])
    #expect(checkup.handle(.examined([right])) == [.show])
    #expect(checkup.toRead.isEmpty)
    #expect(checkup.passed.map(\.title) == ["Daemon"])
  }

  @Test mutating func changesDuringAnExaminationCostOneMore() {
    _ = checkup.handle(.changed)
    for _ in 0..<100 { #expect(checkup.handle(.changed).isEmpty) }
    #expect(checkup.handle(.examined([wrong])) == [.show, .examine])
    #expect(checkup.handle(.examined([wrong])) == [.pause(.seconds(2))])
  }

  @Test mutating func theUserSeesThatARequestIsDone() {
    #expect(checkup.handle(.requested) == [.show, .examine])
    #expect(checkup.isRequested)
    #expect(checkup.handle(.examined([right])) == [.show])
    #expect(!checkup.isRequested)
    _ = checkup.handle(.requested)
    // The same findings, and the button has to come back.
    #expect(checkup.handle(.examined([right])) == [.show])
  }

  @Test mutating func whatIsWrongComesBeforeTheNotes() {
    _ = checkup.handle(.changed)
    _ = checkup.handle(.examined([.note(.handlers, "no app"), right, wrong]))
    #expect(checkup.toRead.map(\.title) == ["pcscd", "Apps"])
    #expect(
      checkup.toRead.first?.spoken
        == "pcscd: Wrong. pcscd is not installed. sudo apt-get install pcscd; then wait")
    #expect(checkup.problems([.handlers]).map(\.text) == ["no app"])
  }

  @Test(arguments: ["echo a\u{202E}b", "echo a\nrm b", "echo  two"])
  func aCommandThatIsNotShownAsItIsCannotBeCopied(command: String) {
    let row = FindingRow(.wrong(.reader, "x", .run(command, "advice")))
    #expect(row.command.isEmpty)
    #expect(row.advice.hasPrefix("echo") && row.advice.hasSuffix("advice"))
  }
}
