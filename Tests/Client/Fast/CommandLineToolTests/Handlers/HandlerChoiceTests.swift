import Testing

@testable import CommandLineTool

/// The forms of `handlers prefer`, `block` and `forget`.
@Suite struct HandlerChoiceTests {
  private func choice(_ words: String) throws -> HandlerChoice? {
    try HandlerChoice(Command.handlers.parse(words.split(separator: " ").map { $0 == "-" ? "" : String($0) }))
  }

  @Test(
    arguments: [
      ("prefer a b.example", .prefer(handler: "a", claim: "b.example")), ("block a", .block(handler: "a", claim: nil)),
      ("block a tel: --json", .block(handler: "a", claim: "tel:")), ("forget a", .forget(handler: "a", claim: nil)),
      ("forget a *.b.example", .forget(handler: "a", claim: "*.b.example")),
      ("forget --domain b.example", .forget(handler: nil, claim: "b.example")),
      ("forget --all", .forget(handler: nil, claim: nil)), ("verify a", nil), ("", nil),
    ] as [(String, HandlerChoice?)])
  func `each form is parsed`(words: String, choice: HandlerChoice?) throws {
    #expect(try self.choice(words) == choice)
  }

  @Test(arguments: [
    "prefer", "prefer a", "prefer a b --all", "block", "block a --domain b", "forget", "forget a --all",
    "forget --all --domain b", "forget a b --check", "forget -", "block a -", "forget --domain=",
  ])
  func `a wrong form is rejected`(words: String) {
    #expect(throws: Failure.self) { try choice(words) }
  }
}
