import Testing

@testable import Bus

/// Which calls are answered while a user floods the bus.
@Suite struct CallAdmissionTests {
  private var admission = CallAdmission()

  private mutating func known(_ sender: String, _ user: UInt32) {
    if admission.call(from: sender) != .refuse { admission.answered(sender) }
    admission.identified(sender, as: user)
  }

  /// Makes `calls` calls on each connection of one user. Returns the number of calls that are not refused.
  private mutating func flood(user: UInt32, connections: Int, calls: Int = 1000) -> Int {
    var count = 0
    for connection in 0..<connections {
      known(":flood.\(user).\(connection)", user)
      for _ in 0..<calls where admission.call(from: ":flood.\(user).\(connection)") != .refuse { count += 1 }
    }
    return count
  }

  @Test(arguments: [1, 3, 50, 200])
  mutating func `the calls of one user are limited across all connections`(connections: Int) {
    let most = connections == 1 ? CallAdmission.limitOfSender : CallAdmission.limitOfUser
    #expect(flood(user: 1000, connections: connections) == most)
    known(":1.9", 1001)
    #expect(admission.call(from: ":1.9") == .answer(isToIdentify: false))
  }

  @Test mutating func `unidentified senders share one allowance, and the bus is asked once about each`() {
    #expect(admission.call(from: ":1.1") == .answer(isToIdentify: true))
    #expect(admission.call(from: ":1.1") == .answer(isToIdentify: false))
    for sender in 2..<CallAdmission.limitOfStrangers { _ = admission.call(from: ":1.\(sender)") }
    #expect(admission.call(from: ":1.999") == .refuse)
    // An identified sender is charged to its user, which frees its place in the allowance.
    admission.identified(":1.1", as: 1000)
    #expect(admission.call(from: ":1.999") == .answer(isToIdentify: true))
  }

  @Test mutating func `if the bus does not know the user of a sender, it is asked again at the next call`() {
    _ = admission.call(from: ":1.1")
    admission.identified(":1.1", as: nil)
    #expect(admission.call(from: ":1.1") == .answer(isToIdentify: true))
  }

  @Test mutating func `a peer with precedence is answered although the limit for all users is reached`() {
    for user in 0..<10 { _ = flood(user: UInt32(user), connections: 3) }
    known(":1.1", 2000)
    #expect(admission.call(from: ":1.1") == .refuse)
    admission.setPrecedence([":1.1"])
    for _ in 0..<CallAdmission.limitOfSender { #expect(admission.call(from: ":1.1") != .refuse) }
    #expect(admission.call(from: ":1.1") == .refuse)
  }

  @Test func `peers with precedence come first, but take turns with each other and with the rest`() {
    var calls = IncomingCalls()
    calls.admission.setPrecedence([":1.2", ":1.3"])
    for sender in [":1.1", ":1.2", ":1.2", ":1.2", ":1.1", ":1.3"] { calls.wait(sender) { _ in } }
    #expect((0..<7).map { _ in calls.next()?.sender } == [":1.2", ":1.1", ":1.3", ":1.1", ":1.2", ":1.2", nil])
  }

  @Test mutating func `six new connections of one user leave room for another unidentified sender`() {
    for sender in 1...6 { for _ in 0..<100 { _ = admission.call(from: ":1.\(sender)") } }
    #expect(admission.call(from: ":1.7") != .refuse)
  }

  @Test func `waiting calls and precedence are forgotten with the bus`() {
    var calls = IncomingCalls()
    _ = calls.admission.call(from: ":1.1")
    calls.wait(":1.1") { _ in }
    calls.admission.setPrecedence([":1.1"])
    calls.forgetPeers()
    #expect(calls.isEmpty && !calls.admission.hasPrecedence(":1.1"))
  }

  @Test mutating func `an answered call frees its place even if its sender had precedence for a while`() {
    known(":1.1", 1000)
    for _ in 0..<CallAdmission.limitOfSender { _ = admission.call(from: ":1.1") }
    admission.setPrecedence([":1.1"])
    admission.setPrecedence([])
    for _ in 0..<CallAdmission.limitOfSender { admission.answered(":1.1") }
    #expect(admission.isEmpty)
    #expect(flood(user: 1000, connections: 3) == CallAdmission.limitOfUser)
  }

  @Test mutating func `after the bus is lost, a sender with the same name is identified again`() {
    known(":1.1", 1000)
    _ = admission.call(from: ":1.1")
    admission.forgetUsers()
    #expect(admission.call(from: ":1.1") == .answer(isToIdentify: true))
    for _ in 0..<2 { admission.answered(":1.1") }
    #expect(admission.isEmpty)
  }

  @Test mutating func `the users of senders are remembered up to a limit, and the oldest is forgotten first`() {
    for sender in 0...CallAdmission.memory { known(":1.\(sender)", 1000) }
    #expect(admission.call(from: ":1.0") == .answer(isToIdentify: true))
    #expect(admission.call(from: ":1.\(CallAdmission.memory)") == .answer(isToIdentify: false))
  }
}
