package import TagrouteClient

/// What the page with the tags shows of the inbox: the newest taps that a filter lets through. Pure: events in, actions
/// out.
///
/// It holds the taps down to the one that was scrolled to, and asks for more at the end. A change of the inbox makes it
/// read the newest taps again, one reading at a time, so a thousand taps in a second cost a few calls.
package struct InboxList: Sendable {
  package enum Phase: Sendable, Hashable {
    /// Nothing has been read yet. Can transition to: `list`, `empty`, `unreachable`.
    case loading
    /// Can transition to: all others.
    case list
    /// No tap matches. Can transition to: all others.
    case empty
    /// No agent answers. Can transition to: `loading`.
    case unreachable(String)
  }

  package enum Event: Sendable {
    /// The page was opened, or its user has changed the filter.
    case filtered(InboxFilter)
    /// The agent has started. Its inbox may be another one.
    case appeared
    /// It has ended, or cannot be asked, with the reason if there is one to show.
    case disappeared(String = "")
    /// A tap has come or changed.
    case changed
    /// Taps were removed.
    case cleared
    /// The last row is nearly visible.
    case endReached
    case answered(Fetch, [TapRow], total: UInt64?)
    case failed(Fetch, String)
    /// The user has deleted these. They stay in the inbox until `deletionDue`.
    case deleted([String])
    case undone
    /// The time for undoing is over.
    case deletionDue
  }

  package enum Action: Sendable, Equatable {
    case fetch(Fetch)
    /// Rows of the list are replaced by others. Positions count from 0.
    case splice(at: Int, removed: Int, added: [TapRow])
    case show(Phase)
    /// The number of taps that match, for the user.
    case total(UInt64)
    /// Removes the taps from the inbox.
    case delete([String])
    case offerUndo(Int)
  }

  /// A page of the inbox to read.
  package struct Fetch: Sendable, Hashable {
    package let filter: InboxFilter
    /// Only taps with a lesser sequence; nil for the newest ones.
    package let before: UInt64?
    package let limit: UInt32
    /// An answer for an earlier list is ignored.
    fileprivate let generation: Int
  }

  /// The rows on a screen, and some to scroll to at once.
  private static let newest: UInt32 = 200
  private static let older: UInt32 = 500

  package private(set) var phase = Phase.loading
  package private(set) var rows: [TapRow] = []
  package private(set) var filter = InboxFilter()
  private var generation = 0
  private var isComplete = false
  /// Whether the newest taps are being read, and whether they have changed since.
  private var isRefreshing = false
  private var isStale = false
  private var isReadingOlder = false
  /// In the inbox, as last counted.
  private var total: UInt64 = 0
  /// Deleted by the user, and not yet in the inbox.
  private var hidden: [String] = []

  package init() {}

  /// Returns the actions, in order.
  package mutating func handle(_ event: Event) -> [Action] {
    switch event {
    case .filtered(let filter):
      self.filter = filter
      return restart()
    case .appeared: return restart()
    case .cleared: return restart(keepsRows: true)
    case .disappeared(let problem): return unreachable(problem)
    case .changed:
      if case .unreachable = phase { return [] }
      isStale = isRefreshing
      return isRefreshing ? [] : refresh()
    case .endReached: return readOlder()
    case .answered(let fetch, let page, let total): return answered(fetch, page, total)
    case .failed(let fetch, let problem): return fetch.generation == generation ? unreachable(problem) : []
    case .deleted(let ids): return delete(ids)
    case .undone:
      hidden = []
      return restart(keepsRows: true)
    case .deletionDue:
      let due = hidden
      hidden = []
      return due.isEmpty ? [] : [.delete(due)]
    }
  }

  /// Another list. With `keepsRows`, the present one stays visible until it is there.
  private mutating func restart(keepsRows: Bool = false) -> [Action] {
    generation += 1
    (isRefreshing, isStale, isReadingOlder, isComplete) = (false, false, false, false)
    if keepsRows, phase == .list || phase == .empty { return refresh() }
    return clearRows() + change(to: .loading) + refresh()
  }

  private mutating func refresh() -> [Action] {
    isRefreshing = true
    return [.fetch(Fetch(filter: filter, before: nil, limit: Self.newest, generation: generation))]
  }

  private mutating func readOlder() -> [Action] {
    guard phase == .list, !isComplete, !isReadingOlder, let last = rows.last else { return [] }
    isReadingOlder = true
    return [.fetch(Fetch(filter: filter, before: last.sequence, limit: Self.older, generation: generation))]
  }

  private mutating func answered(_ fetch: Fetch, _ page: [TapRow], _ total: UInt64?) -> [Action] {
    guard fetch.generation == generation else { return [] }
    let isWhole = page.count < Int(fetch.limit)
    let page = page.filter { !hidden.contains($0.id) }
    var actions: [Action]
    if let before = fetch.before {
      isReadingOlder = false
      isComplete = isWhole
      // The list may have been shortened meanwhile.
      guard rows.last?.sequence == before else { return [] }
      actions = [.splice(at: rows.count, removed: 0, added: page)]
      rows += page
    } else {
      isRefreshing = false
      actions = replaceNewest(with: page, isWhole: isWhole)
    }
    actions += change(to: rows.isEmpty ? .empty : .list)
    if let total {
      self.total = total
      actions.append(countWithoutHidden)
    }
    if isStale {
      isStale = false
      actions += refresh()
    }
    return actions
  }

  /// Puts the newest taps in the place of the former newest ones. Only what differs is replaced, because GTK binds all
  /// visible rows again at each change of its list.
  private mutating func replaceNewest(with page: [TapRow], isWhole: Bool) -> [Action] {
    var kept: ArraySlice<TapRow> = []
    if !isWhole, let end = page.last?.sequence, let first = rows.first, first.sequence >= end {
      kept = rows.drop { $0.sequence >= end }
    } else {
      // All are new, or there are no others.
      isComplete = isWhole
    }
    let former = rows
    rows = page + kept
    let common = zip(former, rows).prefix { $0 == $1 }.count
    let end = zip(former.dropFirst(common).reversed(), rows.dropFirst(common).reversed()).prefix { $0 == $1 }.count
    let (removed, added) = (former.count - common - end, rows.count - common - end)
    guard removed > 0 || added > 0 else { return [] }
    return [.splice(at: common, removed: removed, added: Array(rows[common..<(common + added)]))]
  }

  private mutating func delete(_ ids: [String]) -> [Action] {
    // What was deleted before cannot be undone any more.
    let due = hidden
    hidden = ids
    let gone = Set(ids)
    var actions: [Action] = due.isEmpty ? [] : [.delete(due)]
    for index in rows.indices.reversed() where gone.contains(rows[index].id) {
      rows.remove(at: index)
      actions.append(.splice(at: index, removed: 1, added: []))
    }
    return actions + change(to: rows.isEmpty ? .empty : .list) + [countWithoutHidden, .offerUndo(ids.count)]
  }

  private var countWithoutHidden: Action { .total(total - min(total, UInt64(hidden.count))) }

  private mutating func unreachable(_ problem: String) -> [Action] {
    generation += 1
    (isRefreshing, isStale, isReadingOlder) = (false, false, false)
    return clearRows() + change(to: .unreachable(problem))
  }

  private mutating func clearRows() -> [Action] {
    guard !rows.isEmpty else { return [] }
    defer { rows = [] }
    return [.splice(at: 0, removed: rows.count, added: [])]
  }

  private mutating func change(to next: Phase) -> [Action] {
    guard phase != next else { return [] }
    phase = next
    return [.show(next)]
  }
}
