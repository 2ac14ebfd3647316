import Foundation
import Presence
import Rig
import Testing

@testable import Doctor

struct SuspendReasonTests {
  @Test(arguments: SuspendReasons.all.map(\.name))
  func `each reason has words, and a row in the documentation`(reason: String) throws {
    #expect(SuspendReason.words(reason) != reason)
    let root = URL(filePath: repositoryRoot)
    let page = try String(contentsOf: root.appending(path: "docs/scanning.md"), encoding: .utf8)
    #expect(page.contains("`\(reason)`"))
  }
}
