import Testing

@testable import Daemon

@Suite struct AuthorizationQuestionsTests {
  private var questions = AuthorizationQuestions()

  private mutating func begin(_ sender: String, of uid: UInt32) -> Bool { questions.begin(sender, of: uid) }

  @Test mutating func `a caller can ask again only after the answer`() {
    #expect(begin(":1.1", of: 1000))
    #expect(!begin(":1.1", of: 1000))
    questions.end(":1.1")
    #expect(begin(":1.1", of: 1000))
  }

  @Test mutating func `a user with many connections leaves room for other users`() {
    for number in 0..<200 { _ = begin(":1.\(number)", of: 1000) }
    #expect(!begin(":1.300", of: 1000))
    #expect(begin(":1.301", of: 1001))
    questions.end(":1.0")
    #expect(begin(":1.300", of: 1000))
  }

  @Test mutating func `all users together have a limit`() {
    for number in 0..<AuthorizationQuestions.limit { #expect(begin(":1.\(number)", of: UInt32(number))) }
    #expect(!begin(":1.999", of: 999))
  }
}
