import Names
import ReaderKit
import ReaderProtocol
import Tags

/// The state of a reader session, except for the part that is on the chip.
struct TagSession {
  /// The options that the session began with.
  let options: ReaderSessionOptions
  /// The options since the last restart of polling: a part of `options`.
  private(set) var polled: ReaderSessionOptions
  /// The state from before the session, which is restored when it ends.
  var background: Poller.Background
  /// The tags that were reported to the daemon and not removed since, by placement number.
  var reported: [UInt64: SessionTag] = [:]
  /// The tags that lie there together.
  var round: TagRound
  /// The placement of the tag that got a raw command. The tag may be in a state that only the client understands.
  /// Looking for other tags would end that state, so it does not happen until this tag is gone.
  var engaged: UInt64?
  /// Whether the selected card needs a SELECT of its application before it gets a raw command.
  var applicationIsDue = false
  /// Whether the selected tag may ignore the next command, because it has refused the last one.
  var isOutOfStep = false

  init(_ options: ReaderSessionOptions, background: Poller.Background) {
    (self.options, polled) = (options, options)
    self.background = background
    round = TagRound(options.technologies.modulations)
  }

  /// The poller forgets its tags and looks for those of other options, a part of `options`.
  mutating func restart(_ options: ReaderSessionOptions) {
    polled = options
    round = TagRound(options.technologies.modulations)
  }

  /// The application that the card of a placement should have selected.
  func application(of number: UInt64) -> [UInt8]? {
    options.application(of: reported[number])
  }
}
