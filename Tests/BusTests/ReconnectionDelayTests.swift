import Testing

@testable import Bus

@Suite struct ReconnectionDelayTests {
  @Test func `the delay doubles up to its maximum`() {
    var delay = ReconnectionDelay()
    let delays = (0..<9).map { _ in delay.next() }
    #expect(delays.prefix(4) == [.milliseconds(50), .milliseconds(100), .milliseconds(200), .milliseconds(400)])
    #expect(delays.last == .seconds(5))
  }

  @Test func `only a connection that lasted resets the delay`() {
    var delay = ReconnectionDelay()
    _ = delay.next()
    delay.connectionEnded(after: .seconds(1))
    #expect(delay.next() == .milliseconds(100))
    delay.connectionEnded(after: .seconds(5))
    #expect(delay.next() == .milliseconds(50))
  }
}
