import Foundation
import Glibc
import NDEF
import TestRig
import Testing

/// Tags with records and no link, with the real daemon, the real agent and GIO's list of default applications.
@Suite(.timeLimit(.minutes(3)), StopsAtEnd()) struct RecordTests {
  private static let card = Array("BEGIN:VCARD\r\nVERSION:4.0\r\nFN:$(touch x)\r\nEND:VCARD\r\n".utf8)

  /// Stores its argument, and the file or the input. Prints the name of the report to the agent's log.
  private static let recorder = """
    #!/bin/sh
    report=$(mktemp "$0.XXXXXX")
    { printf '%s\\n' "$1"; case "$1" in /*) stat -c %a "$1"; cat "$1";; *) cat;; esac; } > "$report"
    echo "recorded $report" >&2
    """

  private static func record(_ type: String, _ payload: [UInt8] = RecordTests.card) -> NDEFRecord {
    NDEFRecord(typeNameFormat: type.contains("/") ? .mediaType : .external, type: Array(type.utf8), payload: payload)
  }

  private static func tag(_ number: Int, _ records: [NDEFRecord]) throws -> Tag {
    Tag(try Tag(number), message: try NDEFMessage(records: records).encoded())
  }

  /// A desktop whose default application for contact cards and calendars records what it gets.
  private struct Stage {
    let desktop: Desktop
    let server: NotificationServerStandIn

    init(starter: String = #function) async throws {
      desktop = try await Desktop(starter: starter)
      let directory = desktop.installation.directory
      let program = try directory.write(RecordTests.recorder, to: "contacts", mode: 0o755)
      try directory.write(
        "[Desktop Entry]\nType=Application\nName=Contacts\nExec=\(program) %f\nMimeType=text/vcard;text/calendar;\n",
        to: "share/applications/contacts.desktop")
      try directory.write(
        "[Default Applications]\ntext/vcard=contacts.desktop\ntext/calendar=contacts.desktop\n"
          + "application/x-desktop=contacts.desktop\n", to: "config/mimeapps.list")
      let handler = try directory.write(RecordTests.recorder, to: "coupons", mode: 0o755)
      let entry = try directory.write(
        "[Desktop Entry]\nType=Application\nName=Coupons\nExec=\(handler) tag\nImplements=org.tagroute.Handler1;\n"
          + "[org.tagroute.Handler1]\nExternalTypes=example.com:coupon;\nMimeTypes=image/*;\n",
        to: "share/applications/coupons.desktop")
      if geteuid() != 0 {
        let path = directory.file("config/tagroute/handlers.conf")
        let others = String(decoding: try readFile(path), as: UTF8.self)
        try directory.write(
          others + "[coupons.desktop]\nFile=\(entry)\nLaunch=\(handler) tag\nAllowed=example.com:coupon;image/*;\n",
          to: "config/tagroute/handlers.conf")
      }
      server = try await desktop.startWithServer()
    }

    /// The report of the program with this name.
    func recorded(by program: String) async throws -> (argument: String, rest: [UInt8]) {
      let line = try await desktop.agent.line { $0.hasPrefix("recorded /") && $0.contains("/\(program).") }
      let bytes = try readFile(String(line.dropFirst("recorded ".count)))
      let end = bytes.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.endIndex
      return (String(decoding: bytes[..<end], as: UTF8.self), Array(bytes[end...].dropFirst()))
    }

    func run(_ arguments: String...) async throws -> String {
      let process = try await desktop.installation.start("tagroute", arguments)
      #expect(try await process.exit() == .exited(0))
      return await process.standardOutput()
    }
  }

  @Test func `a contact card opens as a file that only the user can read, until the agent ends`() async throws {
    let stage = try await Stage()
    try await stage.desktop.place(try Self.tag(1, [Self.record("text/vCard;charset=utf-8")]))
    let shown = try await stage.desktop.notification(on: stage.server)
    #expect(shown.summary == "Open in Contacts")
    #expect(shown.body == "Contact card")
    try await stage.server.click(shown)
    let (path, rest) = try await stage.recorded(by: "contacts")
    #expect(rest == Array("600\n".utf8) + Self.card)
    #expect(path.hasSuffix(".vcf") && path.contains("/runtime/tagroute/tag-"))
    let agent = try await stage.desktop.agent
    try await agent.exit(after: SIGTERM)
    #expect(access(path, F_OK) != 0)
  }

  @Test func `a handler gets the whole message of its external type, and no link`() async throws {
    let stage = try await Stage()
    let records = [Self.record("android.com:pkg", Array("org.example".utf8)), Self.record("Example.com:Coupon", [7])]
    let tag = try Self.tag(1, records)
    try await stage.desktop.place(tag)
    let shown = try await stage.desktop.notification(on: stage.server)
    #expect(shown.summary == "Open in Coupons")
    try await stage.server.click(shown)
    let (argument, rest) = try await stage.recorded(by: "coupons")
    #expect(argument == "tag" && rest == tag.message)
  }

  @Test func `a record that no app takes is ignored, and the inbox says why`() async throws {
    let stage = try await Stage()
    for (number, type) in ["audio/x-unheard-of", "application/x-desktop", "android.com:pkg", "a b/c"].enumerated() {
      let agent = try await stage.desktop.agent
      let seen = await agent.log().count
      try await stage.desktop.place(try Self.tag(number + 10, [Self.record(type)]))
      try await agent.line(containing: "is not offered: the message has no URI record", after: seen)
    }
    // The next tag has the first notification.
    try await stage.desktop.tap(2, isShownOn: stage.server)
    let text = try await stage.run("inbox", "--json")
    let taps = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]])
    let ignored = taps.dropFirst()
    #expect(ignored.count == 4)
    for tap in ignored {
      #expect(tap["state"] as? String == "dismissed")
      let text = try await stage.run("inbox", "show", "--json", try #require(tap["id"] as? String))
      let whole = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
      #expect(whole["stateReasonCode"] as? String == "ignored")
      #expect((whole["now"] as? [String: Any])?["kind"] as? String == "none")
    }
  }

  @Test func `resolve explains the type`() async throws {
    let stage = try await Stage()
    let card = try await stage.run("resolve", "--explain", "--type", "text/vcard")
    #expect(card.contains("type: no handler declares text/vcard"))
    #expect(card.contains("default: contacts.desktop is the default application for text/vcard"))
    #expect(card.hasPrefix("record: "))
    let coupon = try await stage.run("resolve", "--type", "example.com:coupon")
    #expect(coupon == "coupons.desktop: coupons.desktop declares example.com:coupon\n")
    let file = stage.desktop.installation.directory.file("message")
    let message = try NDEFMessage(records: [Self.record("text/plain"), Self.record("image/png")]).encoded()
    try stage.desktop.installation.directory.write(message, to: "message")
    #expect(try await stage.run("resolve", "--explain", "--message", file).contains("record 1 of 2 is the first"))
    #expect(try await stage.run("handlers").contains("image/* example.com:coupon"))
  }
}
