import Bus
import Names
import Notifications
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

@Suite struct ReaderSheetsTests {
  private static let session = "/org/tagroute/Tagroute1/sessions/1" as ObjectPath
  private var sheets = ReaderSheets()

  private static func shown(_ actions: [ReaderSheets.Action]) throws -> (Notification, NotificationKey) {
    guard case .show(let notification, let key)? = actions.first, actions.count == 1 else {
      throw Unexpected(actions: "\(actions)")
    }
    return (notification, key)
  }

  private struct Unexpected: Error { let actions: String }

  @Test mutating func `a sheet is shown, updated and closed with a check mark`() throws {
    let (first, key) = try Self.shown(
      sheets.handle(.show(Self.session, message: "Hold your card", application: "transit")))
    #expect(first.summary.string == "Hold a tag near the reader")
    #expect(first.body.string == "“transit”: Hold your card")
    #expect(first.buttons.map(\.label) == ["Cancel"])
    #expect(first.timeout == 0)
    #expect(ReaderSheets.isSheet(key))
    #expect(sheets.handle(.update(Self.session, message: "Hold your card")) == [])
    let (longer, _) = try Self.shown(sheets.handle(.update(Self.session, message: "Longer")))
    #expect(longer.body.string == "“transit”: Longer")
    let (last, lastKey) = try Self.shown(sheets.handle(.close(Self.session, outcome: "done", message: "")))
    #expect(last.summary.string == "✓ Done")
    #expect(lastKey == key)
    #expect(last.timeout == ReaderSheets.farewell && last.isTransient && !first.isTransient)
    #expect(sheets.handle(.close(Self.session, outcome: "done", message: "")) == [])
  }

  @Test mutating func `an error is shown, and other ends remove the sheet`() throws {
    _ = sheets.handle(.show(Self.session, message: "", application: ""))
    let (last, key) = try Self.shown(sheets.handle(.close(Self.session, outcome: "error", message: "wrong card")))
    #expect(last.body.string == "wrong card")
    for outcome in ["cancelled", "closed", "something new"] {
      _ = sheets.handle(.show(Self.session, message: "", application: ""))
      #expect(sheets.handle(.close(Self.session, outcome: outcome, message: "x")) == [.remove(key)])
    }
  }

  @Test mutating func `only the button cancels a session`() throws {
    let (_, key) = try Self.shown(sheets.handle(.show(Self.session, message: "", application: "")))
    _ = try Self.shown(sheets.handle(.activated(key, action: "default")))
    #expect(sheets.handle(.dismissed(key)) == [])
    #expect(sheets.handle(.activated(key, action: "cancel")) == [.remove(key), .cancel(Self.session)])
    #expect(sheets.handle(.daemonGone) == [.remove(key)])
    #expect(sheets.handle(.activated(key, action: "cancel")) == [])
  }

  @Test mutating func `text of a client is limited and has no control characters`() throws {
    let long = String(repeating: "a", count: 10_000)
    let hostile = "\u{202E}<b>x</b>\u{1B}[31m\nhttps://evil.example/ \(long)"
    let (sheet, _) = try Self.shown(sheets.handle(.show(Self.session, message: hostile, application: hostile)))
    #expect(sheet.body.string.count <= 320)
    #expect(!sheet.body.string.unicodeScalars.contains { ["\u{202E}", "\u{1B}"].contains($0) })
    #expect(!sheet.body.string.contains("https://"))
    #expect(sheet.summary.string == "Hold a tag near the reader")
  }

  @Test mutating func `the lines of a client's text stay, up to a limit`() throws {
    let (sheet, _) = try Self.shown(sheets.handle(.show(Self.session, message: "Hold it.\nWait.", application: "a\nb")))
    #expect(sheet.body.string == "“a b”: Hold it.\nWait.")
    let many = (1...20).map(String.init).joined(separator: "\n")
    let (longer, _) = try Self.shown(sheets.handle(.update(Self.session, message: many)))
    #expect(longer.body.string.count { $0 == "\n" } == ReaderSheets.mostLines - 1)
    #expect(longer.body.string.hasSuffix("7\n8 9 10 11 12 13 14 15 16 17 18 19 20"))
    let (last, _) = try Self.shown(sheets.handle(.close(Self.session, outcome: "error", message: "No.\nAnother one.")))
    #expect(last.body.string == "No.\nAnother one.")
  }

  @Test mutating func `the number of sheets is limited`() {
    for number in 0..<ReaderSheets.most {
      #expect(sheets.handle(.show(ObjectPath(stringLiteral: "/s\(number)"), message: "", application: "")).count == 1)
    }
    #expect(sheets.handle(.show("/another", message: "", application: "")) == [])
  }
}
