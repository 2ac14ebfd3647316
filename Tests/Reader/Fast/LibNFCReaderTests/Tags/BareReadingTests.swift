import ReaderProtocol
import Testing

@testable import ReaderKit
@testable import Tags

/// Which readings make a tag one without a message, and which do not.
@Suite struct BareReadingTests {
  private func reading(_ code: TagProblem.Code, silence: Bool = false) -> Reading {
    Reading(.problem(TagProblem(code, "x", isConcludedFromSilence: silence)))
  }

  @Test(arguments: [TagProblem.Code.empty, .notNDEF, .blank, .unsupported])
  func `a tag that answers is without a message`(code: TagProblem.Code) {
    let reading = reading(code)
    #expect(reading.finalContent() == .bare(reason: "\(code.words): x"))
    #expect(!reading.isDoubtful())
  }

  @Test func `a damaged tag is not`() {
    #expect(reading(.damaged).finalContent() == .damaged(reason: "damaged: x", contents: []))
    let problem = TagProblem(.damaged, "x").holding([UInt8](repeating: 1, count: 5000))
    let contents = [UInt8](repeating: 1, count: TagProblem.mostContents)
    #expect(Reading(.problem(problem)).finalContent() == .damaged(reason: "damaged: x", contents: contents))
    let failed = Reading(failure: TagChannelError(.noAnswer, "it is silent"))
    #expect(failed.finalContent() == .problem(reason: Reading.failed("it is silent")))
    for code in [TagChannelError.Code.tooSlow, .tooManyExchanges] {
      #expect(Reading(failure: TagChannelError(code, "x")).finalContent() == .problem(reason: "unsupported: x"))
    }
    #expect(Reading(failure: TagChannelError(.unsupported, "x")).finalContent() == .bare(reason: "unsupported: x"))
  }

  @Test func `a silent tag is only if the next attempt confirms it`() {
    let silent = reading(.notNDEF, silence: true)
    #expect(silent.finalContent() == .problem(reason: "not NDEF: x"))
    #expect(silent.finalContent(after: reading(.damaged)) == .problem(reason: "not NDEF: x"))
    #expect(silent.finalContent(after: silent) == .bare(reason: "not NDEF: x"))
    let message = Reading(.message([0xD0, 0, 0]))
    #expect(message.finalContent() == .message([0xD0, 0, 0]))
  }
}
