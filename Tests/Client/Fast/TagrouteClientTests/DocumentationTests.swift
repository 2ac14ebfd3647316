import Bus
import Names
import Rig
import Testing

@testable import TagrouteClient

/// docs/reader-sessions.md lists all end reasons and options.
struct DocumentationTests {
  private func text() throws -> String {
    return String(decoding: try readFile("\(repositoryRoot)/docs/reader-sessions.md"), as: UTF8.self)
  }

  @Test func `the end reasons are those of the bus interface, and a missing daemon`() {
    let reasons = ReaderSessionEnd.Reason.allCases.map(\.rawValue)
    #expect(reasons == Names.SessionEnd.allCases.map(\.rawValue) + ["daemon-gone"])
  }

  @Test func `every end reason is documented`() throws {
    let text = try text()
    for reason in ReaderSessionEnd.Reason.allCases { #expect(text.contains("| `\(reason.rawValue)` |"), "\(reason)") }
  }

  @Test func `every session option is documented`() throws {
    let text = try text()
    let all = ReaderSessionOptions(
      message: "a", reader: "/a", access: .write, technologies: ["type-2"], applicationIdentifiers: [[1, 2, 3, 4, 5]],
      systemCodes: [3], endsAfterFirstRead: true, reportsUndeclaredCards: true, selectsApplication: false,
      formatsBlankTags: true)
    let options = try #require(all.value.asDictionary)
    #expect(options.count == 10)
    for name in options.keys { #expect(text.contains("| `\(name)` |"), "\(name)") }
  }
}
