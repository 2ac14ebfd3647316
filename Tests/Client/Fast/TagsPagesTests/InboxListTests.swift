import TagrouteClient
import TagsPages
import Testing

struct InboxListTests {
  private var list = InboxList()

  /// Taps with these sequences, the newest first.
  private static func rows(_ sequences: [UInt64], state: String = "shown") -> [TapRow] {
    sequences.map { sequence in
      var tap = TapDescription()
      (tap.id, tap.sequence, tap.title, tap.state) = ("tap-\(sequence)", sequence, "Tag \(sequence)", state)
      return TapRow(tap)
    }
  }

  private static func fetches(_ actions: [InboxList.Action]) -> [InboxList.Fetch] {
    actions.compactMap { if case .fetch(let fetch) = $0 { fetch } else { nil } }
  }

  /// A list with these rows.
  private mutating func open(_ sequences: [UInt64], total: UInt64? = nil) throws {
    let fetch = try #require(Self.fetches(list.handle(.filtered(InboxFilter()))).first)
    _ = list.handle(.answered(fetch, Self.rows(sequences), total: total ?? UInt64(sequences.count)))
  }

  @Test mutating func aListIsReadAndShown() throws {
    let actions = list.handle(.filtered(InboxFilter()))
    let fetch = try #require(Self.fetches(actions).first)
    #expect(fetch.before == nil)
    #expect(
      list.handle(.answered(fetch, Self.rows([3, 2, 1]), total: 3)) == [
        .splice(at: 0, removed: 0, added: Self.rows([3, 2, 1])), .show(.list), .total(3),
      ])
  }

  @Test mutating func anEmptyInboxIsSaidToBeEmpty() throws {
    try open([])
    #expect(list.phase == .empty)
  }

  @Test mutating func aNewTapIsPutAtTheTopAlone() throws {
    try open([2, 1])
    let fetch = try #require(Self.fetches(list.handle(.changed)).first)
    let actions = list.handle(.answered(fetch, Self.rows([3, 2, 1]), total: 3))
    #expect(actions == [.splice(at: 0, removed: 0, added: Self.rows([3])), .total(3)])
  }

  @Test mutating func aChangedTapIsReplacedAlone() throws {
    try open([3, 2, 1])
    let fetch = try #require(Self.fetches(list.handle(.changed)).first)
    let page = Self.rows([3]) + Self.rows([2], state: "delivered") + Self.rows([1])
    let actions = list.handle(.answered(fetch, page, total: 3))
    #expect(actions == [.splice(at: 1, removed: 1, added: Self.rows([2], state: "delivered")), .total(3)])
  }

  @Test mutating func aThousandChangesDuringAReadingCostOneMore() throws {
    try open([1])
    let first = Self.fetches(list.handle(.changed))
    #expect(first.count == 1)
    for _ in 0..<1000 { #expect(list.handle(.changed).isEmpty) }
    let second = Self.fetches(list.handle(.answered(first[0], Self.rows([2, 1]), total: 2)))
    #expect(second.count == 1)
    #expect(Self.fetches(list.handle(.answered(second[0], Self.rows([2, 1]), total: 2))).isEmpty)
  }

  @Test mutating func olderTapsAreReadAtTheEndOnce() throws {
    try open(Array((101...300).reversed()))
    let fetch = try #require(Self.fetches(list.handle(.endReached)).first)
    #expect(fetch.before == 101)
    #expect(list.handle(.endReached).isEmpty)
    let actions = list.handle(.answered(fetch, Self.rows([100, 99]), total: 202))
    #expect(actions.first == .splice(at: 200, removed: 0, added: Self.rows([100, 99])))
    #expect(list.handle(.endReached).isEmpty, "the list is complete")
  }

  @Test mutating func theOlderTapsStayWhenNewOnesCome() throws {
    try open(Array((101...300).reversed()))
    let older = try #require(Self.fetches(list.handle(.endReached)).first)
    _ = list.handle(.answered(older, Self.rows([100, 99]), total: 202))
    let fetch = try #require(Self.fetches(list.handle(.changed)).first)
    _ = list.handle(.answered(fetch, Self.rows(Array((102...301).reversed())), total: 203))
    #expect(list.rows.map(\.sequence) == Array((99...301).reversed()))
  }

  @Test mutating func theAnswerForAFormerFilterIsIgnored() throws {
    let former = try #require(Self.fetches(list.handle(.filtered(InboxFilter()))).first)
    var filter = InboxFilter()
    filter.text = "menu"
    _ = list.handle(.filtered(filter))
    #expect(list.handle(.answered(former, Self.rows([1]), total: 1)).isEmpty)
    #expect(list.rows.isEmpty)
  }

  @Test mutating func aDeletedTapCanComeBack() throws {
    try open([2, 1])
    #expect(list.handle(.deleted(["tap-2"])) == [.splice(at: 0, removed: 1, added: []), .total(1), .offerUndo(1)])
    let fetch = try #require(Self.fetches(list.handle(.undone)).first)
    let actions = list.handle(.answered(fetch, Self.rows([2, 1]), total: 2))
    #expect(actions == [.splice(at: 0, removed: 0, added: Self.rows([2])), .total(2)])
    #expect(list.handle(.deletionDue).isEmpty)
  }

  @Test mutating func aDeletedTapStaysHiddenUntilItIsGone() throws {
    try open([2, 1])
    _ = list.handle(.deleted(["tap-2"]))
    let fetch = try #require(Self.fetches(list.handle(.changed)).first)
    #expect(list.handle(.answered(fetch, Self.rows([2, 1]), total: 2)) == [.total(1)])
    #expect(list.handle(.deletionDue) == [.delete(["tap-2"])])
  }

  @Test mutating func theListComesBackWithTheAgent() throws {
    try open([1])
    #expect(list.handle(.disappeared()) == [.splice(at: 0, removed: 1, added: []), .show(.unreachable(""))])
    #expect(list.handle(.changed).isEmpty)
    let actions = list.handle(.appeared)
    #expect(actions.first == .show(.loading))
    #expect(Self.fetches(actions).count == 1)
  }
}
