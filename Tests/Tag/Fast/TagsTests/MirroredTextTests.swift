import Testing

@testable import Tags

/// A Type 4 card that returns text in the place of what its file holds.
private struct MirroringCard: TagChannel {
  /// The text, from the number of times that the file was selected.
  let text: @Sendable (Int) -> String
  private(set) var file = [UInt8](repeating: 0, count: 256)
  private var selections = 0
  private var isContainer = true

  init(_ text: @escaping @Sendable (Int) -> String) { self.text = text }

  mutating func exchange(_ command: [UInt8]) throws(TagChannelError) -> [UInt8] {
    let offset = Int(command[2]) << 8 | Int(command[3])
    switch command[1] {
    case 0xA4:
      isContainer = command.suffix(2) == [0xE1, 0x03]
      if command.suffix(2) == [0xE1, 0x04] { selections += 1 }
      return [0x90, 0x00]
    case 0xB0:
      var contents: [UInt8] = [0, 15, 0x20, 0, 246, 0, 0x34, 4, 6, 0xE1, 0x04, 1, 0, 0, 0]
      if !isContainer {
        contents = file
        let text = Array(text(selections).utf8)
        contents.replaceSubrange(20..<20 + text.count, with: text)
      }
      return contents[offset..<min(offset + Int(command[4]), contents.count)] + [0x90, 0x00]
    default:
      file.replaceSubrange(offset..<offset + command.count - 5, with: command[5...])
      return [0x90, 0x00]
    }
  }
}

@Suite struct MirroredTextTests {
  private static let uid: [UInt8] = [4, 1, 2, 3, 0xAB, 5, 6]
  private static let message: [UInt8] = [0xD1, 0x01, 60, 0x54] + [UInt8](repeating: 0x30, count: 60)

  private func error(_ text: @escaping @Sendable (Int) -> String) -> TagWriteError? {
    var card = MirroringCard(text)
    let tag = TagActivation.typeA(TypeAActivation(atqa: [3, 0x44], sak: 0x20, uid: Self.uid))
    do throws(TagWriteError) {
      try tag.writeNDEF(Self.message, isVerifying: true, over: &card)
    } catch {
      return error
    }
    #expect(Array(card.file[2..<66]) == Self.message)
    return nil
  }

  @Test func `a UID, or text that changes with each reading, is not compared`() {
    #expect(error { _ in "040102" + "03AB0506" } == nil)
    #expect(error { _ in "04010203AB0506x0000A7" } == nil)
    #expect(error { "C0FFEE00000\($0)" } == nil)
  }

  @Test func `other text that the tag may have put there is named`() {
    #expect(error { _ in "C0FFEE" } == .mirroring)
    #expect(error { _ in "04010203AB0506xC0FFEEx1" } == .mirroring)
    let reason =
      "the tag returns other characters than were written to it, as tags do that put their UID, a counter or a "
    #expect(error { _ in "C0FFEE" }?.description == reason + "code into the message")
  }

  @Test func `a tag that returns other bytes may be worn out`() {
    #expect(error { _ in "c0ffee" } == .notAsWritten)
    #expect(error { "04010203AB0506 \($0)" } == .notAsWritten)
  }
}
