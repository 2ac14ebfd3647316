/// The apps that take tags, as the page shows them. Pure: events in, actions out.
///
/// The agent does not report a choice that another program makes. So the apps are read whenever the page comes into
/// view, and after everything that may have changed a choice.
package struct AppList: Sendable {
  package enum Phase: Sendable, Hashable {
    /// Can transition to: all others.
    case loading
    /// Can transition to: all others.
    case list
    /// No app takes tags. Can transition to: all others.
    case empty
    /// No agent answers. Can transition to: all others.
    case unreachable(String)
  }

  package enum Event: Sendable {
    /// The page has come into view.
    case shown
    case hidden
    /// A choice may have changed.
    case changed
    /// The agent has started.
    case appeared
    /// It has ended, or cannot be asked, with the reason if there is one to show.
    case disappeared(String = "")
    case answered(Int, [AppEntry])
    case failed(Int, String)
  }

  package enum Action: Sendable, Hashable {
    /// The number is that of the answer.
    case fetch(Int)
    /// The phase or the apps have changed.
    case show
  }

  package private(set) var phase = Phase.loading
  package private(set) var apps: [AppEntry] = []
  private var refresh = Refresh()
  private var isShown = false

  package init() {}

  /// Returns the actions, in order.
  package mutating func handle(_ event: Event) -> [Action] {
    switch event {
    case .shown:
      isShown = true
      return fetch()
    case .hidden:
      isShown = false
      return []
    case .changed: return isShown ? fetch() : []
    case .appeared: return fetch()
    case .disappeared(let problem):
      refresh.abandon()
      return change(to: .unreachable(problem), [])
    case .answered(let number, let apps):
      guard refresh.ended(number) else { return [] }
      return change(to: apps.isEmpty ? .empty : .list, apps) + next()
    case .failed(let number, let problem):
      guard refresh.ended(number) else { return [] }
      // The agent may have started meanwhile.
      let next = next()
      return next.isEmpty ? change(to: .unreachable(problem), []) : next
    }
  }

  private mutating func fetch() -> [Action] { refresh.changed().map { [.fetch($0)] } ?? [] }

  private mutating func next() -> [Action] { refresh.next().map { [.fetch($0)] } ?? [] }

  private mutating func change(to phase: Phase, _ apps: [AppEntry]) -> [Action] {
    guard phase != self.phase || apps != self.apps else { return [] }
    (self.phase, self.apps) = (phase, apps)
    return [.show]
  }
}
