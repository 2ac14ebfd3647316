import Bus
import Names
import Testing

@testable import Agent

struct RegistrationNoticeTests {
  private let other = BusError(name: Names.Errors.alreadyRegistered, message: ":1.5 serves the session")
  private let noSession = BusError(name: Names.Errors.notASession, message: "no session")

  private static func isShow(_ action: RegistrationNotice.Action?) -> Bool {
    if case .show = action { true } else { false }
  }

  @Test func `another agent is reported once per episode`() {
    var notice = RegistrationNotice()
    #expect(notice.handle(nil) == nil)
    #expect(notice.handle(noSession) == nil)
    #expect(Self.isShow(notice.handle(other)))
    #expect(notice.handle(BusError(name: Names.Errors.alreadyRegistered, message: ":1.6 serves the session")) == nil)
    #expect(notice.handle(nil) == .remove)
    #expect(notice.handle(nil) == nil)
    #expect(Self.isShow(notice.handle(other)))
  }

  @Test func `a refusal for another reason removes the notification for the rest of the episode`() {
    var notice = RegistrationNotice()
    #expect(Self.isShow(notice.handle(other)))
    #expect(notice.handle(noSession) == .remove)
    #expect(notice.handle(noSession) == nil)
    #expect(notice.handle(other) == nil)
    #expect(notice.handle(nil) == nil)
    #expect(Self.isShow(notice.handle(other)))
  }
}
