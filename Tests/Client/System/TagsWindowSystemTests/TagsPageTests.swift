import TestKit
import Testing

@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct TagsPageTests {
  @Test func `a tap appears in the list, can be deleted and comes back`() async throws {
    let rig = try await WindowRig()
    try await rig.sees("Hold a Tag to the Reader")
    try await rig.tap("https://menu.example.com/table/7")
    try await rig.sees("menu.example.com/table/7, *", role: "list item")
    try await rig.doesNotSee("Hold a Tag to the Reader")
    // By the keyboard alone: from the search to the first tap.
    try await rig.key("ctrl+f", "Tab", "Tab", "Down")
    try await rig.sees("Record 1", role: "list item")
    try await rig.press("Delete")
    try await rig.sees("Tag deleted")
    try await rig.doesNotSee("menu.example.com/table/7, *", role: "list item")
    try await rig.press("Undo*")
    try await rig.sees("menu.example.com/table/7, *", role: "list item")
    try await rig.type("nothing", into: "Search tags")
    try await rig.sees("No Results")
    try await rig.type("table", into: "Search tags")
    try await rig.sees("menu.example.com/table/7, *", role: "list item")
    let unnamed = try await rig.unnamed()
    #expect(unnamed == #"{"missing": []}"#)
    await rig.stop()
  }

  @Test func `a deleted tap is gone after the window has closed`() async throws {
    let rig = try await WindowRig()
    try await rig.tap("https://menu.example.com/table/7")
    try await rig.sees("menu.example.com/table/7, *", role: "list item")
    try await rig.key("ctrl+f", "Tab", "Tab", "Down")
    try await rig.sees("Record 1", role: "list item")
    try await rig.key("Delete")
    try await rig.sees("Tag deleted")
    try await rig.key("ctrl+q")
    #expect(try await rig.window.exit(within: .seconds(30)) == .exited(0))
    let list = try await rig.installation.start("tagroute", ["inbox"])
    try await list.line(containing: "no tap")
    await rig.stop()
  }

  @Test func `the list comes back with the agent`() async throws {
    let rig = try await WindowRig()
    try await rig.tap("https://menu.example.com/table/7")
    try await rig.sees("menu.example.com/table/7, *", role: "list item")
    await rig.installation.agent?.signal(9)
    try await rig.sees("The Agent Does Not Run")
    try await rig.installation.startAgent()
    try await rig.sees("menu.example.com/table/7, *", role: "list item")
    await rig.stop()
  }

  /// What is on a tag can neither act as markup nor change the order of the letters.
  @Test func `hostile texts change no other text`() async throws {
    let rig = try await WindowRig()
    try await rig.installation.simulate("tap https://menu.example.com/%3Cb%3E%E2%80%AEmoc.live")
    _ = try await rig.server.next()
    try await rig.sees("menu.example.com/*", role: "list item")
    try await rig.key("ctrl+f", "Tab", "Tab", "Down")
    try await rig.sees("Record 1", role: "list item")
    await rig.stop()
  }
}
