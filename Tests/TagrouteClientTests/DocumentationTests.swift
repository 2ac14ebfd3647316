import Bus
import Names
import TestSupport
import Testing

@testable import TagrouteClient

/// docs/reader-sessions.md says what there is.
struct DocumentationTests {
  private func text() throws -> String {
    let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    return String(decoding: try readFile("\(root)/docs/reader-sessions.md"), as: UTF8.self)
  }

  @Test func aReasonIsWhatTheBusSaysOrThatNobodySaysAnything() {
    let reasons = ReaderSessionEnd.Reason.allCases.map(\.rawValue)
    #expect(reasons == Names.SessionEnd.allCases.map(\.rawValue) + ["daemon-gone"])
  }

  @Test func everyReasonIsDocumented() throws {
    let text = try text()
    for reason in ReaderSessionEnd.Reason.allCases { #expect(text.contains("| `\(reason.rawValue)` |"), "\(reason)") }
  }

  @Test func everyOptionIsDocumented() throws {
    let text = try text()
    let all = ReaderSessionOptions(
      message: "a", reader: "/a", access: .write, technologies: ["type-2"], applicationIdentifiers: [[1, 2, 3, 4, 5]],
      systemCodes: [3], endsAfterFirstRead: true)
    let options = try #require(all.value.asDictionary)
    #expect(options.count == 7)
    for name in options.keys { #expect(text.contains("| `\(name)` |"), "\(name)") }
  }
}
