import Bus
import NDEF
import TestKit
import Testing

@testable import AgentSystemTests
@testable import AgentTests

/// All requests to a notification server for hostile tags, desktop entries and sessions, in each language.
@Suite(.timeLimit(.minutes(60)), StopsAtEnd()) struct HostileNotificationTests {
  /// Pieces with a meaning for a server, a terminal, a renderer or a person, and pieces without one.
  private static let pieces = [
    "<b>", "</b>", "<a href=\"https://evil.example/\">", "<img src='x'>", "&amp;", "&#x202E;", "<3", "&", "\"", "'",
    "%s%n", "{app}",
    "{domain}", "$(id)", "`id`", "https://evil.example/", "hthttps://tps://evil.example", "ftp://",
    "www.evil.example/x",
    "file:///etc/passwd", "\n", "\r\n", "\t", "\u{0}", "\u{7}", "\u{1B}[31m", "\u{1B}]8;;https://evil.example\u{7}",
    "\u{9B}31m", "\u{7F}", "\u{85}",
    "\u{2028}", "\u{2029}", "\u{202A}", "\u{202B}", "\u{202C}", "\u{202D}", "\u{202E}", "\u{2066}", "\u{2067}",
    "\u{2068}", "\u{2069}", "\u{200E}", "\u{200F}",
    "\u{61C}", "\u{200B}", "\u{200C}", "\u{200D}", "\u{2060}", "\u{FEFF}", "\u{AD}", "\u{3164}", "\u{115F}", "\u{2800}",
    "\u{E0041}", "\u{FFF9}", "\u{E000}",
    "\u{FFFF}", "\u{10FFFF}", "a\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}",
    "\u{489}\u{489}\u{489}\u{489}\u{489}\u{489}", "”", "“", "」", "menu", "日本", "שלום", "👩‍👩‍👧",
    "https://\u{301}evil.example/", "www.\u{301}evil.example/\u{301}x", "<\u{301}b>", "&\u{301}lt;", "\"\u{20DD}", " ",
    "/", ".", "…", " · ",
  ]

  /// Swift sees each of these as one character.
  private static let longCharacters = [
    String(repeating: "\u{1100}", count: 960), String(repeating: "👩\u{200D}", count: 400),
    String(repeating: "क\u{94D}", count: 400), "a" + String(repeating: "\u{1F3FB}", count: 400),
  ]

  private static let titles =
    pieces + longCharacters
    + [
      pieces.joined(), String(repeating: "<b>&\u{202E}", count: 10_000), String(repeating: "\u{301}", count: 30_000),
      "a" + String(repeating: "\u{20DD}", count: 20_000), String(repeating: "x", count: 65_000),
    ]

  private static func random(_ seed: UInt64, count: Int) -> [String] {
    var generator = SeededGenerator(seed: seed)
    return (0..<count).map { _ in
      (0..<Int.random(in: 1...40, using: &generator)).map { _ in pieces.randomElement(using: &generator) ?? "" }
        .joined()
    }
  }

  /// Messages with these words: a poster for an app, for an app that needs permission or for no app, and a text alone.
  private static func messages(_ words: String, _ number: Int) throws -> [[UInt8]] {
    let title = TextRecord(words, language: "en", encoding: number.isMultiple(of: 2) ? .utf8 : .utf16)
    let links = ["https://menu.example.com/a", "https://evil.example/\(number)", "x-nobody:%E2%80%AE%3Cb%3E"]
    let link = links[number % links.count]
    return try [
      NDEFMessage(records: [SmartPosterRecord(uri: link, titles: [title]).record()]).encoded(),
      NDEFMessage(records: [title.record()]).encoded(),
    ]
  }

  /// Texts that are invalid in their encoding, in a poster and alone.
  private static func broken() throws -> [[UInt8]] {
    try [
      [0x02, 0x65, 0x6E, 0xC3, 0x28], [0x02, 0x65, 0x6E, 0xED, 0xA0, 0x80], [0x02, 0x65, 0x6E, 0xFF, 0xFE],
      [0x82, 0x65, 0x6E, 0xD8, 0x00], [0x82, 0x65, 0x6E, 0xFE, 0xFF, 0xDC, 0x00, 0x00], [0x82, 0x65, 0x6E, 0x41],
    ].flatMap { (payload: [UInt8]) in
      let text = NDEFRecord.wellKnown("T", id: [], payload: payload)
      let inner = NDEFMessage(records: [URIRecord("https://menu.example.com/a").record(), text])
      let poster = NDEFRecord.wellKnown("Sp", id: [], payload: try inner.encoded())
      return try [
        NDEFMessage(records: [poster]).encoded(), NDEFMessage(records: [text]).encoded(),
        NDEFMessage(records: [URIRecord("https://menu.example.com/a").record(), text, poster]).encoded(),
      ]
    }
  }

  /// An app of the user that claims a domain under any name.
  private static func entry(_ name: String, icon: String) -> String {
    "[Desktop Entry]\nType=Application\nName=\(name)\nIcon=\(icon)\nExec=/bin/true\nImplements=org.tagroute.Handler1;\n\n"
      + "[org.tagroute.Handler1]\nDomains=evil.example;\n"
  }

  @Test(
    arguments: ["en", "de", "ja", "ko"], [["actions", "body", "body-markup"], ["actions", "body"], ["body-markup"]])
  func `no control characters, markup or addresses reach the server`(language: String, capabilities: [String])
    async throws
  {
    let rig = try await AgentRig(environment: ["LC_ALL": "C.UTF-8", "LANGUAGE": language])
    try await Catalogues.build(in: rig.catalogues)
    let names = [
      "”<b>Menu</b> \u{202E}\u{2066}» 」{domain}&amp;https://evil.example/", String(repeating: "<i>\u{301}", count: 500),
      String(repeating: "\u{1100}", count: 960),
    ]
    let icons = ["http://evil.example/i.png", "/dev/zero", "/./dev/zero"]
    for (number, (name, icon)) in zip(names, icons).enumerated() {
      try rig.installation.directory.write(
        Self.entry(name, icon: icon), to: "home/share/applications/evil\(number).desktop")
    }
    let server = try await rig.startServerAndAgent(capabilities: capabilities)
    let seed = UInt64(language.utf8.reduce(0) { $0 * 31 + Int($1) })
    var messages = try (Self.titles + Self.random(seed, count: 25)).enumerated().flatMap { try Self.messages($1, $0) }
    messages += try Self.broken()
    var count = 0
    for (number, message) in messages.enumerated() {
      try await rig.daemon.give(tapValues(number, message: message))
      let state = try await rig.state(number)
      guard state != "dismissed" else { continue }
      let isRefused = try await rig.tap(number)["title"] == .string("This link may not be opened")
      guard state != "failed" || isRefused else { continue }
      check(try await server.next(), capabilities)
      count += 1
    }
    #expect(count > messages.count / 2, "of \(messages.count) only \(count) were shown")
    for (number, words) in ([Self.pieces.joined()] + Self.longCharacters + Self.random(seed + 1, count: 10))
      .enumerated()
    {
      // D-Bus strings cannot contain U+0000.
      let words = words.replacing("\u{0}", with: "")
      try await rig.daemon.showSession(["app": .string(words), "message": .string("\(number) \(words)")])
      let key = try await server.next()
      check(key, capabilities)
      #expect(["x-tagroute.session"].contains(key.hints["category"]?.asString))
    }
  }

  private func check(_ shown: NotificationServerStandIn.Shown, _ capabilities: [String]) {
    let labels = shown.actions.enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
    let keys = shown.actions.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
    for text in [shown.applicationName, shown.summary, shown.icon] + labels
      + shown.body.split(separator: "\n").map(String.init)
    {
      #expect(Self.isPlain(text), "\(text.debugDescription)")
    }
    #expect(shown.applicationName == "Tagroute")
    #expect(["menu", "application-x-executable", "dialog-information", ""].contains(shown.icon), "\(shown.icon)")
    #expect((1...200).contains(shown.summary.count) && labels.allSatisfy { (1...160).contains($0.count) })
    // Foreign text is so short that our own text stays visible.
    #expect(Self.letters(shown.summary) <= 2 * 40, "\(shown.summary)")
    #expect(labels.allSatisfy { Self.letters($0) <= 2 * 18 }, "\(labels)")
    let isTap = shown.hints["category"] == .string("x-tagroute.tap")
    // An escaped character takes up to six. The text that replaces the buttons has its own line.
    #expect(Self.letters(shown.body) <= 6 * 2 * (isTap ? 600 : 320) + 200, "\(shown.body)")
    // Foreign text does not end our quotation marks.
    #expect(shown.summary.unicodeScalars.filter { "“”„「」".unicodeScalars.contains($0) }.count <= 2, "\(shown.summary)")
    // Compares bytes, as a server does. For Swift, a combining mark changes the character before it.
    let body = Array(shown.body.utf8)
    for scheme in ["http://", "https://", "ftp://"] {
      let isAddress = Array(shown.body.lowercased().utf8).contains(Array(scheme.utf8))
      #expect(!isAddress, "\(shown.body)")
    }
    if capabilities.contains("body-markup") {
      #expect(!body.contains { Array("<>\"".utf8).contains($0) }, "\(shown.body)")
      for piece in body.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).dropFirst() {
        #expect(["amp;", "lt;", "gt;", "quot;"].contains { piece.starts(with: $0.utf8) }, "\(shown.body)")
      }
    }
    #expect(shown.body.count <= 6 * (isTap ? 600 : 320) + 200)
    // A text of a tag or of a client has up to eight lines.
    let breaks = 7 + (capabilities.contains("actions") ? 0 : 1)
    #expect(shown.body.count { $0 == "\n" } <= breaks, "\(shown.body)")
    if capabilities.contains("actions") {
      let order = [
        "default", "open", "copy", "allow", "candidate-0", "candidate-1", "retry", "more", "alternative", "always",
        "ask-next-time", "dismiss", "cancel",
      ]
      #expect(keys.first == "default" && (2...4).contains(keys.count))
      #expect(
        keys.compactMap(order.firstIndex) == keys.compactMap(order.firstIndex).sorted()
          && keys.allSatisfy(order.contains))
    } else {
      #expect(shown.actions.isEmpty)
    }
    // The desktop decides about sounds and pictures.
    #expect(Set(shown.hints.keys) == ["urgency", "category"])
    #expect(shown.hints["urgency"] == .byte(1))
    #expect(shown.hints["category"]?.asString?.hasPrefix("x-tagroute.") == true)
  }

  /// The number of scalars with a width.
  private static func letters(_ text: String) -> Int {
    text.unicodeScalars.count { ![.nonspacingMark, .enclosingMark, .format].contains($0.properties.generalCategory) }
  }

  private static func isPlain(_ text: String) -> Bool {
    var marks = 0
    return text.unicodeScalars.allSatisfy { scalar in
      switch scalar.properties.generalCategory {
      case .control, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: return false
      // These join letters of Indic and Arabic scripts, and emoji.
      case .format where scalar != "\u{200C}" && scalar != "\u{200D}": return false
      case .nonspacingMark, .enclosingMark, .format:
        marks += 1
        return marks <= 4
      default:
        marks = 0
        return scalar != "\u{2800}" && !scalar.properties.isDefaultIgnorableCodePoint
      }
    }
  }
}
