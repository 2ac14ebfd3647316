import Testing

@testable import PresenceTests

/// The search of the fast tests, one event further.
@Suite struct SearchTests {
  @Test func `all sequences of events of the desktop follow the rules`() {
    DesktopStateTests().expectRules(ofEvents: 5)
  }
}
