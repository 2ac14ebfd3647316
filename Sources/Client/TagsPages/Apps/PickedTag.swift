import Names
import Notifications
package import TagrouteClient

/// A tag that the user has shown: one on the reader, or one of the inbox.
package struct PickedTag: Sendable, Hashable {
  package let uid: [UInt8]
  /// Such as `type-2`; empty if it is not known.
  package let technology: String
  /// The encoded message; nil if the tag holds none, or if it could not be read.
  package let message: [UInt8]?
  /// For a list.
  package let title: String

  package init(uid: [UInt8], technology: String, message: [UInt8]?, title: String = "") {
    (self.uid, self.technology, self.title) = (uid, technology, title)
    self.message = message?.isEmpty == true ? nil : message
  }

  /// The tags of these taps, each once. Tags without a UID are left out.
  package static func recent(_ taps: [TapDescription]) -> [PickedTag] {
    var seen: Set<[UInt8]> = []
    return taps.filter { !$0.uid.isEmpty && seen.insert($0.uid).inserted }.prefix(mostRecent).map { tap in
      let words = [DisplayText(tap.title, limit: 40).string, UIDText.text(tap.uid)].filter { !$0.isEmpty }
      return PickedTag(
        uid: tap.uid, technology: tap.technology, message: tap.message, title: words.joined(separator: " – "))
    }
  }

  private static let mostRecent = 10
}

/// The course of showing a tag to the reader, in one reader session. Pure: events in, actions out.
package struct TagPick<Tag: Hashable & Sendable>: Sendable {
  package enum State: Sendable, Hashable {
    /// With the reason if the last attempt has failed. Can transition to: `starting`.
    case idle(String?)
    /// The session waits for the reader. Can transition to: `holding`, `idle`.
    case starting
    /// Waits for a tag. Can transition to: `several`, `reading`, `idle`.
    case holding
    /// More than one tag lies there, so the user could not know which one is taken. Can transition to: `reading`,
    /// `holding`, `idle`.
    case several
    /// Can transition to: `holding`, `idle`.
    case reading
  }

  package enum Event: Sendable {
    case asked
    case activated
    /// With the reason in a sentence.
    case notStarted(String)
    case detected(Tag)
    case roundEnded
    case removed(Tag)
    /// Nil if the tag was taken away too soon.
    case read(Tag, PickedTag?)
    case ended(ReaderSessionEnd.Reason)
    case cancelled
  }

  package enum Action: Sendable, Hashable {
    case start
    case read(Tag)
    case take(PickedTag)
    case close
    /// The state has changed.
    case show
  }

  package private(set) var state = State.idle(nil)
  private var present: Set<Tag> = []
  private var current: Tag?

  package init() {}

  package var isRunning: Bool { if case .idle = state { false } else { true } }

  /// Returns the actions, in order.
  package mutating func handle(_ event: Event) -> [Action] {
    switch event {
    case .asked:
      guard !isRunning else { return [] }
      present = []
      return change(to: .starting) + [.start]
    case .activated: return state == .starting ? change(to: .holding) : []
    case .notStarted(let reason): return finish(reason)
    case .detected(let tag):
      present.insert(tag)
      return []
    case .roundEnded: return examine()
    case .removed(let tag):
      present.remove(tag)
      return state == .several ? present.isEmpty ? change(to: .holding) : examine() : []
    case .read(let tag, let picked):
      guard state == .reading, tag == current else { return [] }
      guard let picked else { return change(to: .holding) }
      return finish(nil) + [.take(picked), .close]
    case .ended(let reason):
      switch reason {
      case .cancelled, .invalidated, .firstRead: return finish(nil)
      case .timedOut: return finish(translated("No tag came in time."))
      default: return finish(reason.words)
      }
    case .cancelled: return isRunning ? finish(nil) + [.close] : []
    }
  }

  private mutating func examine() -> [Action] {
    guard state == .holding || state == .several, let tag = present.first else { return [] }
    guard present.count == 1 else { return change(to: .several) }
    current = tag
    return change(to: .reading) + [.read(tag)]
  }

  private mutating func finish(_ problem: String?) -> [Action] { isRunning ? change(to: .idle(problem)) : [] }

  private mutating func change(to next: State) -> [Action] {
    guard state != next else { return [] }
    state = next
    return [.show]
  }
}
