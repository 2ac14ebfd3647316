import Foundation
import Glibc
import NDEF
import Names
import TestKit
import Testing

@testable import AgentTests

@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct InboxCommandTests {
  @Test func `inbox lists taps in pages, as lines and as JSON`() async throws {
    let rig = try await AgentRig.withAgent()
    #expect(try await rig.tagroute("inbox").output == "no tap\n")
    for number in 1...3 { try await rig.tap("https://menu.example.com/\(number)", number) }
    try await rig.tap("javascript:alert(1)", 4)

    let lines = try await rig.tagroute("inbox").output.split(separator: "\n")
    #expect(lines.count == 5 && lines[0].hasPrefix("ID        READ              STATE "))
    #expect(lines[2].hasPrefix("01234567  2026-11-18 "))
    let words = lines[2].split(separator: " ")
    #expect(words.suffix(3) == ["received", "org.example.Menu", "menu.example.com/3"])
    #expect(lines[1].contains("  failed    -  "))

    let list = try await rig.json("inbox", "--limit", "2") as? [[String: Any]]
    #expect(list?.map { $0["id"] as? String } == [tapID(4), tapID(3)])
    #expect(
      list.map { Set($0[1].keys) } == [
        "id", "time", "uri", "title", "state", "handler", "rule", "program", "stateReason", "stateReasonCode", "readAt",
      ])
    #expect(list?[0]["handler"] is NSNull && list?[1]["handler"] as? String == HandlerStandIn.desktopID)
    #expect(list?[1]["time"] as? Int == 1_795_000_000_000_000)
    #expect(list?[1]["readAt"] as? String == "2026-11-18T11:06:40.000Z")
    let older = try await rig.json("inbox", "--before", tapID(3)) as? [[String: Any]]
    #expect(older?.map { $0["id"] as? String } == [tapID(2), tapID(1)])
    let failed = try await rig.json("inbox", "--state", "failed", "--limit=5") as? [[String: Any]]
    #expect(failed?.map { $0["id"] as? String } == [tapID(4)])
    #expect(try await rig.tagroute("inbox", "--state", "delivered").output == "no tap is delivered\n")

    let card = NDEFRecord(typeNameFormat: .mediaType, type: Array("text/vcard".utf8), payload: [1])
    try await rig.daemon.give(tapValues(5, message: try NDEFMessage(records: [card]).encoded()))
    #expect(try await rig.tagroute("inbox", "--limit", "1").output.contains("  dismissed  -            Contact card\n"))

    let unknown = try await rig.tagroute("inbox", "--state", "eaten")
    #expect(unknown.status == .exited(64))
    #expect(unknown.errors.first?.hasPrefix("tagroute: eaten is not a state of a tap: use one of received, ") == true)
    #expect(try await rig.tagroute("inbox", "--before", "ffff").status == .exited(Names.ExitCode.noInput))
  }

  @Test func `inbox show prints all of a tap, which a part of its id selects`() async throws {
    let (rig, server) = try await AgentRig.withServerAndAgent()
    try await rig.tap("https://menu.example.com/a", 1, more: [TextRecord("Good\nmorning", language: "en").record()])
    _ = try await server.next()
    try await rig.tap("javascript:alert(1)", 0xF2)

    let lines = try await rig.tagroute("inbox", "show", tapID(1)).output.split(separator: "\n").map(String.init)
    try #require(lines.count == 7)
    #expect(lines[0] == "tap \(tapID(1))")
    #expect(
      lines[1].hasPrefix("2026-11-18 ") && lines[1].contains(": read type-2, UID 04000000000001, by reader "))
    #expect(lines[2].hasPrefix("on the tag: "))
    #expect(lines[3...4] == ["  link: https://menu.example.com/a", "  text (en): Good\\u{a}morning"])
    #expect(lines[5] == "org.example.Menu claims menu.example.com")
    #expect(lines[6].hasSuffix(": shown in a notification"))

    let refused = try #require(try await rig.json("inbox", "show", tapID(0xF2)) as? [String: Any])
    #expect(refused["state"] as? String == "failed" && refused["stateReasonCode"] as? String == "refused")
    #expect((refused["stateReason"] as? String)?.contains("javascript") == true)
    #expect(refused["handler"] is NSNull && refused["reason"] is NSNull && refused["now"] is NSNull)
    #expect((refused["records"] as? [[String: Any]])?.first?["uri"] as? String == "javascript:alert(1)")
    #expect(refused["message"] as? String == Self.hexadecimal(try uriMessage("javascript:alert(1)")))

    let ambiguous = try await rig.tagroute("inbox", "show", "0123")
    #expect(ambiguous.status == .exited(64) && ambiguous.errors.first?.contains(tapID(0xF2)) == true)
    #expect(try await rig.tagroute("inbox", "show", tapID(0xF2).uppercased()).status == .exited(0))
    let unknown = try await rig.tagroute("inbox", "show", "ffff")
    #expect(unknown.status == .exited(Names.ExitCode.noInput))
    #expect(unknown.errors == ["tagroute: no tap has an id that begins with ffff; tagroute inbox lists the taps"])
    for text in ["'; --", "zz", tapID(1) + "0", "０"] {
      let none = try await rig.tagroute("inbox", "show", text)
      #expect(none.status == .exited(64))
      #expect(none.errors.first?.contains("is not an id: use hexadecimal digits and -") == true, "\(none.errors)")
    }
  }

  private static func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined()
  }

  @Test func `inbox open opens a tap, and reports a refusal, an error and a missing choice`()
    async throws
  {
    let rig = try await AgentRig.withAgent()
    for number in 1...3 { try await rig.tap("https://menu.example.com/\(number)", number) }
    let opened = try #require(try await rig.json("inbox", "open", tapID(1)) as? [String: Any])
    let lines = try await rig.tagroute("inbox", "open", tapID(3)).output
    #expect(lines == "tap 01234567: opened in org.example.Menu\n")
    #expect(opened["state"] as? String == "delivered" && opened["handler"] as? String == HandlerStandIn.desktopID)
    #expect(try await rig.handler.next().uri == "https://menu.example.com/1")
    let again = try await rig.tagroute("inbox", "open", tapID(1))
    #expect(again.status == .exited(1))
    let time = /tagroute: tap 01234567: already handed to org.example.Menu at [-0-9]{10} [0-9]{2}:[0-9]{2}/
    #expect(again.errors.first?.wholeMatch(of: time) != nil, "\(again.errors)")

    await rig.handler.set(.refuses)
    let refused = try await rig.tagroute("inbox", "open", tapID(2))
    #expect(refused.status == .exited(1))
    #expect(refused.errors == ["tagroute: tap 01234567: the app did not take it: the kitchen is closed"])
    await rig.handler.set(.takes)

    // Now there are two apps, and the user has chosen neither.
    try rig.installation.directory.write(
      HandlerStandIn.desktopEntry.replacing("Name=Menu", with: "Name=Other"),
      to: "home/share/applications/org.example.Other.desktop")
    _ = try await rig.call("Reload")
    try await rig.tap("https://menu.example.com/4", 4)
    let choice = try await rig.tagroute("inbox", "open", tapID(4))
    #expect(choice.status == .exited(75))
    #expect(choice.errors.first?.contains("--handler APP, where APP is one of ") == true, "\(choice.errors)")
    #expect(choice.errors.first?.contains("org.example.Other") == true)
    let nobody = try await rig.tagroute("inbox", "open", tapID(4), "--handler", "org.example.Nobody")
    #expect(nobody.status == .exited(75) && nobody.errors.first?.contains("not one of the tap's candidates") == true)
    #expect(try await rig.tagroute("inbox", "open", tapID(4), "--handler", "org.example.Menu").status == .exited(0))
    #expect(try await rig.state(4) == "delivered")
    // One app is no choice. The user has not allowed it yet.
    try rig.installation.directory.write(
      HandlerStandIn.desktopEntry.replacing("menu.example.com", with: "mine.example.net"),
      to: "home/share/applications/org.example.Mine.desktop")
    _ = try await rig.call("Reload")
    try await rig.tap("https://mine.example.net/1", 5)
    let unasked = try await rig.tagroute("inbox", "open", tapID(5))
    #expect(unasked.status == .exited(75))
    #expect(
      unasked.errors == [
        "tagroute: tap 01234567: org.example.Mine needs your permission. To open it once: tagroute inbox open 01234567 "
          + "--handler org.example.Mine; to allow it for mine.example.net: tagroute handlers prefer org.example.Mine "
          + "mine.example.net"
      ])
    // Trying again does not help, so the code is not 75.
    for (number, link) in ["https://nobody.example.org/", "javascript:alert(1)"].enumerated() {
      try await rig.tap(link, 10 + number)
      let result = try await rig.tagroute("inbox", "open", tapID(10 + number))
      #expect(result.status == .exited(1), "\(result.errors)")
      #expect(result.errors.first?.hasPrefix("tagroute: tap 01234567: ") == true)
    }
  }

  @Test func `an unknown result of inbox open has its own exit code`() async throws {
    let rig = try await AgentRig.withAgent()
    try await rig.tap("https://menu.example.com/1", 1)
    await rig.handler.set(.hangs)
    let opening = try await rig.installation.start("tagroute", ["inbox", "open", tapID(1)])
    _ = try await rig.handler.next()
    let meanwhile = try await rig.tagroute("inbox", "open", tapID(1))
    #expect(
      meanwhile.status == .exited(75) && meanwhile.errors == ["tagroute: tap 01234567: it is being opened already"])
    await rig.handler.leave()
    #expect(try await opening.exit() == .exited(Names.ExitCode.outcomeUnknown))
    #expect(await opening.log() == ["tagroute: tap 01234567: the app left without an answer; it may have been opened"])
  }

  @Test func `inbox dismiss removes a tap from the screen`() async throws {
    let (rig, server) = try await AgentRig.withServerAndAgent()
    try await rig.tap("https://menu.example.com/1", 1)
    let shown = try await server.next()
    #expect(try await rig.tagroute("inbox", "dismiss", tapID(1)).output == "tap 01234567: dismissed\n")
    #expect(try await server.nextClosed() == shown.id)
    #expect(try await rig.state(1) == "dismissed")
    #expect(try await rig.tagroute("inbox", "dismiss", tapID(1)).status == .exited(75))
  }

  @Test func `inbox export writes a private file, and overwrites one only with --force`() async throws {
    let rig = try await AgentRig.withAgent()
    for number in 1...2 { try await rig.tap("https://menu.example.com/\(number)", number) }
    let file = rig.installation.directory.file("message.ndef")
    #expect(try await rig.tagroute("inbox", "export", tapID(1), file).status == .exited(0))
    #expect(try readFile(file) == uriMessage("https://menu.example.com/1"))
    var status = stat()
    #expect(stat(file, &status) == 0 && status.st_mode & 0o777 == 0o600)
    let second = try await rig.tagroute("inbox", "export", tapID(2), file)
    #expect(second.status == .exited(Names.ExitCode.cannotCreate) && second.errors.first?.contains("--force") == true)
    #expect(try readFile(file) == uriMessage("https://menu.example.com/1"))
    #expect(try await rig.tagroute("inbox", "export", tapID(2), file, "--force").status == .exited(0))
    #expect(try readFile(file) == uriMessage("https://menu.example.com/2"))
    for place in ["/dev/null", rig.installation.directory.path] {
      let refused = try await rig.tagroute("inbox", "export", tapID(2), place, "--force")
      #expect(refused.errors.first?.contains("not a regular file") == true)
    }
    // The payload of the record, with the code of its prefix.
    let record = try await rig.tagroute("inbox", "export", "--record", "1", tapID(1), file, "--force")
    #expect(record.status == .exited(0))
    #expect(try readFile(file) == [0x04] + Array("menu.example.com/1".utf8))
    let missing = try await rig.tagroute("inbox", "export", "--record", "2", tapID(1), file, "--force")
    #expect(missing.status == .exited(64) && missing.errors.first?.contains("has no record 2") == true, "\(missing)")
    let raw = try await rig.tagroute("inbox", "export", tapID(1), "-")
    #expect(raw.output.hasSuffix("menu.example.com/1\n"))
    let script = try BuiltProducts.systemProgram("script", package: "bsdutils")
    let command = "\(try BuiltProducts.program("tagroute")) inbox export \(tapID(1)) -"
    let terminal = try await rig.installation.start(script, ["-qec", command, "/dev/null"])
    #expect(try await terminal.exit() == .exited(64))

    let everything = rig.installation.directory.file("all.jsonl")
    let report = try await rig.json("inbox", "export", "--all", everything) as? [String: Any]
    #expect(report?["taps"] as? Int == 2 && report?["file"] as? String == everything)
    let lines = String(decoding: try readFile(everything), as: UTF8.self).split(separator: "\n")
    let taps = try lines.map { try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] }
    #expect(taps.map { $0?["id"] as? String } == [tapID(2), tapID(1)])
    #expect(taps.allSatisfy { ($0?["message"] as? String)?.hasPrefix("D101") == true })
    #expect(try await rig.tagroute("inbox", "export", tapID(9), file + "2").status == .exited(66))
    #expect(access(file + "2", F_OK) != 0)
  }

  @Test func `inbox clear asks first, removes finished taps and lists the kept ones`() async throws {
    let rig = try await AgentRig.withAgent()
    for number in 1...3 { try await rig.tap("https://menu.example.com/\(number)", number) }
    try await rig.tap("javascript:alert(1)", 4)
    let unasked = try await rig.tagroute("inbox", "clear")
    #expect(unasked.status == .exited(64) && unasked.errors.first?.contains("--yes") == true)

    let script = try BuiltProducts.systemProgram("script", package: "bsdutils")
    let command = "\(try BuiltProducts.program("tagroute")) inbox clear"
    let asked = try await rig.installation.start(script, ["-qec", command, "/dev/null"], input: true)
    try await asked.send("n")
    #expect(try await asked.exit() == .exited(1))
    #expect(try await rig.state(4) == "failed")

    await rig.handler.set(.hangs)
    let opening = try await rig.installation.start("tagroute", ["inbox", "open", tapID(1)])
    _ = try await rig.handler.next()
    let older = try await rig.tagroute("inbox", "clear", "--older-than", "36500", "--yes")
    #expect(older.output == "inbox: 0 taps removed\n")
    let monitor = try await rig.installation.start("tagroute", ["monitor", "--json"])
    try await monitor.line(containing: "daemon-gone")
    let first = try await rig.tagroute("inbox", "clear", "--yes")
    try await monitor.line(containing: #"{"count":1,"event":"inbox-cleared"}"#)
    #expect(first.status == .exited(0))
    let kept = first.output.split(separator: "\n").map(String.init)
    #expect(kept.first == "inbox: 1 tap removed" && kept.count == 4)
    #expect(kept[1] == "tap 01234567: kept, because it is being opened: menu.example.com/1")
    #expect(kept[2] == "tap 01234567: kept, because it is on the screen: menu.example.com/3")
    let named = try await rig.tagroute("inbox", "clear", tapID(2), "--yes")
    #expect(named.status == .exited(75) && named.output.contains("because it is on the screen"))

    let all = try await rig.tagroute("inbox", "clear", "--all", "--yes", "--json")
    let report = try JSONSerialization.jsonObject(with: Data(all.output.utf8)) as? [String: Any]
    #expect(report?["removed"] as? Int == 2)
    let left = report?["kept"] as? [[String: Any]]
    #expect(left?.map { $0["id"] as? String } == [tapID(1)] && left?.first?["state"] as? String == "opening")
    await rig.handler.answer()
    #expect(try await opening.exit() == .exited(0))
    #expect(try await rig.tagroute("inbox", "clear", tapID(1), "--yes").output == "inbox: 1 tap removed\n")
    #expect(try await rig.tagroute("inbox").output == "no tap\n")
  }

  @Test func `without an agent every inbox command says how to start it`() async throws {
    let rig = try await AgentRig()
    let start = "tagroute: the agent is not running: \(try BuiltProducts.program("tagroute-agent")) &"
    for arguments in [
      [], ["show", "01"], ["open", "01"], ["dismiss", "01"], ["export", "--all", "-"], ["clear", "--yes"],
    ] {
      let result = try await rig.installation.tagroute(["inbox"] + arguments)
      #expect(result.status == .exited(69), "\(arguments)")
      #expect(result.errors.count == 1 && result.errors.first?.hasPrefix(start) == true, "\(arguments)")
    }
  }
}

extension AgentRig {
  /// Makes the daemon give a tap with a link and further records.
  nonisolated func tap(_ uri: String, _ number: Int, more: [NDEFRecord] = []) async throws {
    let message = try NDEFMessage(records: NDEFMessage.uri(uri).records + more).encoded()
    try await daemon.give(tapValues(number, message: message))
  }

  nonisolated func tagroute(_ arguments: String...) async throws -> CommandResult {
    try await installation.tagroute(arguments)
  }

  /// Runs `tagroute`, which has to succeed, and returns its JSON output.
  nonisolated func json(_ arguments: String...) async throws -> Any {
    let result = try await installation.tagroute(arguments + ["--json"])
    #expect(result.status == .exited(0), "\(result.errors)")
    return try result.json()
  }
}
