import TagrouteClient
import TagsPages
import Testing

struct TagPickTests {
  private var pick = TagPick<Int>()
  private static let tag = PickedTag(uid: [4, 1, 2, 3], technology: "type-2", message: [1])

  private mutating func hold() {
    #expect(pick.handle(.asked) == [.show, .start])
    #expect(pick.handle(.activated) == [.show])
    #expect(pick.state == .holding)
  }

  @Test mutating func aTagIsTaken() {
    hold()
    #expect(pick.handle(.detected(1)).isEmpty)
    #expect(pick.handle(.roundEnded) == [.show, .read(1)])
    #expect(pick.handle(.read(1, Self.tag)) == [.show, .take(Self.tag), .close])
    #expect(!pick.isRunning && pick.handle(.ended(.invalidated)).isEmpty)
  }

  @Test mutating func ofSeveralTagsNoneIsTaken() {
    hold()
    _ = pick.handle(.detected(1))
    _ = pick.handle(.detected(2))
    #expect(pick.handle(.roundEnded) == [.show])
    #expect(pick.state == .several)
    #expect(pick.handle(.removed(1)) == [.show, .read(2)])
  }

  @Test mutating func aTagThatWasTakenAwayIsAskedForAgain() {
    hold()
    _ = pick.handle(.detected(1))
    _ = pick.handle(.roundEnded)
    #expect(pick.handle(.removed(1)).isEmpty)
    #expect(pick.handle(.read(1, nil)) == [.show])
    #expect(pick.state == .holding)
    #expect(pick.handle(.roundEnded).isEmpty)
    _ = pick.handle(.detected(3))
    #expect(pick.handle(.roundEnded) == [.show, .read(3)])
  }

  @Test mutating func theUserCanStop() {
    _ = pick.handle(.asked)
    #expect(pick.handle(.cancelled) == [.show, .close])
    #expect(pick.handle(.activated).isEmpty && pick.handle(.cancelled).isEmpty)
    hold()
  }

  @Test mutating func anEndHasItsReason() {
    hold()
    #expect(pick.handle(.ended(.timedOut)) == [.show])
    #expect(pick.state == .idle("No tag came in time."))
    hold()
    #expect(pick.handle(.ended(.readerLost)) == [.show])
    #expect(pick.state == .idle("The reader is gone, or another program has it."))
    _ = pick.handle(.asked)
    #expect(pick.handle(.notStarted("why")) == [.show])
    #expect(pick.state == .idle("why"))
  }

  @Test mutating func aReadingThatTheSessionHasCutOffIsIgnored() {
    hold()
    _ = pick.handle(.detected(1))
    _ = pick.handle(.roundEnded)
    _ = pick.handle(.ended(.sessionInactive))
    #expect(pick.handle(.read(1, Self.tag)).isEmpty)
  }

  @Test func theLastTagsAreOfferedOnce() {
    let uids: [[UInt8]] = [[4, 1, 2, 3], [], [4, 1, 2, 3], [4, 9, 9, 9]]
    let taps = uids.map { uid -> TapDescription in
      var tap = TapDescription()
      (tap.uid, tap.title, tap.message) = (uid, "Menu", [])
      return tap
    }
    let tags = PickedTag.recent(taps)
    #expect(tags.map(\.title) == ["Menu – 04010203", "Menu – 04090909"] && tags.allSatisfy { $0.message == nil })
  }
}
