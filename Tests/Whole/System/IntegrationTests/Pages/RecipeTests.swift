import Bus
import Glibc
import TestKit
import Testing

/// The recipes of docs/recipes.md, pasted as they are printed, with the real daemon and the real agent.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct RecipeTests {
  /// The titles on the page.
  enum Recipe: String, CaseIterable {
    case jukebox = "A jukebox"
    case wifi = "Wi-Fi for guests"
    case museum = "A museum label"
    case contact = "A contact card"
    case home = "A command for Home Assistant"
    case lamp = "A lamp while the card rests"
  }

  private static func page() throws -> DocumentationPage { try DocumentationPage("docs/recipes.md") }

  @Test func `each recipe of the page has a test`() throws {
    let page = try Self.page()
    #expect(page.titles == Recipe.allCases.map(\.rawValue))
    #expect(try page.blocks(of: "").count == 2)
    #expect(page.blocks.allSatisfy { $0.reason == nil })
  }

  @Test(arguments: Recipe.allCases) func `a pasted recipe does what the page says`(recipe: Recipe) async throws {
    let starter = "`a pasted recipe does what the page says`_\(recipe)"
    let stage = try await PageStage(try Self.page(), starter: starter)
    switch recipe {
    case .jukebox: try await checkJukebox(stage)
    case .wifi: try await checkWiFi(stage)
    case .museum: try await checkMuseum(stage)
    case .contact: try await checkContact(stage)
    case .home: try await checkHome(stage)
    case .lamp: try await checkLamp(stage)
    }
  }

  private func checkJukebox(_ stage: PageStage) async throws {
    let sleeve = try Tag(1)
    _ = try await stage.paste(Recipe.jukebox.rawValue, holding: sleeve)
    try await stage.desktop.place(sleeve)
    #expect(
      try await stage.started(3) == [
        "mpc <--quiet> <clear>", "mpc <--quiet> <add> <Miles Davis/Kind of Blue>", "mpc <--quiet> <play>",
      ])
    #expect(try await stage.shown().summary == "Started “kind of blue”")
    // The contents of the tag do not matter.
    try await stage.desktop.remove()
    try await stage.desktop.place(Tag(sleeve, message: try Tag(2).message))
    #expect(try await stage.shown().summary == "Started “kind of blue”")
    #expect(try await stage.started(6).last == "mpc <--quiet> <play>")
  }

  private func checkWiFi(_ stage: PageStage) async throws {
    let sticker = try await written(Recipe.wifi, on: stage)
    let agent = try await stage.desktop.agent
    // A click on the notification, and the second button.
    for (number, action) in ["default", "save"].enumerated() {
      let seen = await agent.log().count
      try await stage.desktop.place(Tag(try Tag(number + 1), message: sticker))
      let shown = try await stage.shown()
      #expect(shown.summary == "Connect to Wi-Fi “Guest”?")
      #expect(shown.actions.contains("Connect and Save"))
      try await stage.server.click(shown, action: action)
      guard case .add(let settings, _, let options) = try await stage.manager.next() else {
        throw RigError("no network was added")
      }
      #expect(settings["802-11-wireless"]?["ssid"] == .bytes(Array("Guest".utf8)))
      #expect(settings["802-11-wireless-security"]?["psk"]?.asString == "welcome-guests")
      #expect(options["persist"]?.asString == "memory")
      try await agent.line(containing: "was handed to NetworkManager", after: seen)
    }
    // Only the button saves.
    guard case .update(_, flags: 1) = try await stage.manager.next() else {
      throw RigError("the network was not saved")
    }
    // The saved profile replaces that of “Connect”.
    #expect(await stage.manager.all.count == 4)
    #expect(await stage.manager.all.last == .delete)
    for process in [agent, try await stage.desktop.daemon] {
      #expect(await process.log().allSatisfy { !$0.contains("welcome-guests") })
    }
  }

  private func checkMuseum(_ stage: PageStage) async throws {
    let label = try await written(Recipe.museum, on: stage)
    try await stage.desktop.place(Tag(try Tag(1), message: label))
    #expect(try await stage.started(1) == ["browser <https://museum.example/paintings/42>"])
    #expect(try await stage.shown().summary == "Opened in Web")
    // The sticker of a visitor, with a link that an app claims.
    let agent = try await stage.desktop.agent
    let seen = await agent.log().count
    try await stage.desktop.place(try Tag(2))
    try await agent.line(containing: "the rule “other stickers”", after: seen)
    // The next label has the next notification and the next start.
    try await stage.desktop.place(Tag(try Tag(3), message: label))
    #expect(try await stage.shown().summary == "Opened in Web")
    let starts = try await stage.started(2)
    #expect(starts.first == starts.last)
  }

  private func checkContact(_ stage: PageStage) async throws {
    let sticker = try await written(Recipe.contact, on: stage)
    try await stage.desktop.place(Tag(try Tag(1), message: sticker))
    let shown = try await stage.shown()
    #expect(shown.summary == "Open in Contacts")
    try await stage.server.click(shown)
    let line = try #require(try await stage.started(1).first)
    try #require(line.hasPrefix("contacts </") && line.hasSuffix(".vcf>"), "\(line)")
    let path = String(line.dropFirst("contacts <".count).dropLast())
    let card = try readFile(path)
    #expect(card == (try readFile(stage.desktop.installation.directory.file("home/card.vcf"))))
    let text = String(decoding: card, as: UTF8.self)
    #expect(text.hasPrefix("BEGIN:VCARD\r\nVERSION:3.0\r\nN:Lovelace;Ada;;;\r\n") && text.hasSuffix("END:VCARD\r\n"))
    // Only the user can read the file, until the agent ends.
    var information = stat()
    #expect(stat(path, &information) == 0 && information.st_mode & 0o777 == 0o600)
    try await stage.desktop.agent.exit(after: SIGTERM)
    #expect(access(path, F_OK) != 0)
  }

  private func checkHome(_ stage: PageStage) async throws {
    let message = try await written(Recipe.home, on: stage)
    let start =
      "curl <-fsS> <--max-time> <10> <--request> <POST> "
      + "<http://homeassistant.local:8123/api/webhook/good-night-k3x9q7>"
    // Several tags with this text do the same.
    for number in 1...2 {
      try await stage.desktop.place(Tag(try Tag(number), message: message))
      #expect(try await stage.started(number).last == start)
      #expect(try await stage.shown().summary == "Started “good night”")
    }
  }

  private func checkLamp(_ stage: PageStage) async throws {
    // The UID on the page.
    let card = try Tag(0xA219_5AC0_1180)
    let output = try await stage.paste(Recipe.lamp.rawValue, holding: card).output
    #expect(output.contains("\nUID: 04A2195AC01180\n"))
    try await stage.desktop.place(card)
    let address = "curl <-fsS> <--max-time> <5> <http://192.0.2.40/cm?cmnd=Power%20"
    #expect(try await stage.started(1) == ["\(address)On>"])
    #expect(try await stage.shown().summary == "Started “desk lamp”")
    try await stage.desktop.installation.simulate("remove")
    #expect(try await stage.started(2).last == "\(address)Off>")
  }

  /// Pastes a recipe that writes a tag, and returns its message.
  private func written(_ recipe: Recipe, on stage: PageStage) async throws -> [UInt8] {
    try #require(try await stage.paste(recipe.rawValue).message)
  }
}
