import ReaderKit
import ReaderProtocol
import Tags

/// The state of a reader session, except for the part that is on the chip.
struct TargetSession {
  var base: TagSession
  /// The state from before the session, which is restored when it ends.
  var background: Poller.Background
  /// The tags that were reported to the daemon and not removed since, by placement number.
  var reported: [UInt64: SessionTag] = [:]
  /// The tags that lie there together.
  var round: TagRound
  /// The placement of the tag that got a raw command. The tag may be in a state that only the client understands.
  /// Looking for other tags would end that state, so it does not happen until this tag is gone.
  var engaged: UInt64?

  init(_ options: TagSessionOptions, background: Poller.Background) {
    base = TagSession(options)
    self.background = background
    round = TagRound(options.technologies.modulations)
  }

  /// The poller forgets its tags and looks for those of other options, a part of `options`.
  mutating func restart(_ options: TagSessionOptions) {
    base.polled = options
    round = TagRound(options.technologies.modulations)
  }
}

/// A round of tags in a reader session. It begins with the first tag that is reported. It ends once the reader has
/// looked for every technology, so that all tags that lie there together are reported.
///
/// The first look for a technology asks the chip for one tag. It does not count if it finds one, because a second tag
/// may lie beside it. Example with two tags of Type A and one FeliCa card:
///
///     look for one tag of Type A                  finds one, and the round begins
///     look for Type B, FeliCa, two of Type A      finds the two others, and the round ends
///
/// So the round of a single tag ends after one more look for each technology.
struct TagRound {
  private let technologies: Set<Modulation>
  /// The technologies of the looks in this round. Before a round begins, those of the present step.
  private var covered: Set<Modulation> = []
  /// Whether a tag was reported since the last round ended.
  private(set) var isOpen = false

  /// A round of tags of these technologies.
  init(_ technologies: Set<Modulation>) { self.technologies = technologies }

  /// Records a look that found all tags that the chip can find.
  mutating func looked(for modulation: Modulation) { covered.insert(modulation) }

  /// Records that a tag was reported.
  mutating func reported() { isOpen = true }

  /// Forgets the looks, because a command of the daemon came before their tags were reported. The next looks find these
  /// tags again.
  mutating func brokeOff() { covered = [] }

  /// Ends a step: the tags of its looks are reported. Returns whether the round ends with it.
  mutating func settle() -> Bool {
    defer { if !isOpen { covered = [] } }
    guard isOpen, covered.isSuperset(of: technologies) else { return false }
    isOpen = false
    return true
  }
}
