import Handlers
import Inbox
import Testing

@testable import Agent

/// The texts that say why a tap failed.
struct FailureWordsTests {
  private static let reasons =
    HandOverFailure.Code.allCases.map { HandOverOutcome.failed(HandOverFailure($0, hostile)).failure }
    + HandOverDoubt.Code.allCases.map { HandOverOutcome.unknown(HandOverDoubt($0, hostile)).failure }
    + [TapReason(.endedWhileOpening), TapReason(.noAnswer, detail: hostile), TapReason(.none, detail: hostile)]
  private static let hostile = "”\u{202E}\n<b>\u{1B}[31m“" + String(repeating: "word ", count: 2000)

  @Test(arguments: reasons.compactMap(\.self))
  func `each failure has a text of limited length, in which foreign text is quoted and harmless`(reason: TapReason) {
    let words = Messages.whyFailed(reason)
    #expect(words.count > 15 && words.count < 200, "\(words)")
    #expect(words.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control && $0 != "\u{202E}" })
    #expect(!words.contains("{") && !words.hasSuffix("."))
    // Apart from a program's name, foreign text is only inside our quotation marks.
    if words.contains("<b>"), reason.handOverFailure?.code != .notCopied, reason.handOverDoubt?.code != .outOfSight {
      #expect(words.filter { $0 == "“" }.count == 1 && words.filter { $0 == "”" }.count == 1 && words.hasSuffix("”"))
      #expect(words.firstIndex(of: "“").map { words[..<$0].contains("<b>") } == false)
    }
  }

  @Test func `an app without an error message is not quoted`() {
    let silent = HandOverOutcome.failed(HandOverFailure(.handlerFailed, "“”")).failure
    #expect(silent.map(Messages.whyFailed) == "The app did not take it")
    #expect(Messages.whyFailed(.none) == "")
  }
}
