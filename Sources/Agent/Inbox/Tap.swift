package import NDEF
package import Names

/// Microseconds since 1970-01-01 00:00 UTC, leap seconds not counted.
package struct Timestamp: Sendable, Hashable, Comparable {
  package let microseconds: Int64

  package init(microseconds: Int64) { self.microseconds = microseconds }

  package static func < (a: Timestamp, b: Timestamp) -> Bool { a.microseconds < b.microseconds }

  /// The moment `days` days earlier, or the earliest possible one if that is out of range.
  package func before(days: Int) -> Timestamp {
    let (span, overflow) = Int64(days).multipliedReportingOverflow(by: 86_400_000_000)
    let (result, underflow) = microseconds.subtractingReportingOverflow(span)
    return Timestamp(microseconds: overflow || underflow ? .min : result)
  }
}

/// A tag that was read, the agent's decision about it, and its state.
package struct Tap: Sendable, Hashable {
  /// The inbox holds each id once.
  package let read: TagRead
  /// In its normal form; nil if the message contains no link that may be opened.
  package let uri: String?
  /// The text of the notification, or a name for contents without a link or a text.
  package let title: String
  /// What opens this tap, or opened it.
  package internal(set) var receiver: TapReceiver
  package internal(set) var state: TapState
  /// When it reached its state.
  package internal(set) var changed: Timestamp
  package internal(set) var reason: TapReason
  /// The notification that shows it, or showed it last; nil once that is gone.
  package internal(set) var place: NotificationPlace?
  /// Whether it waits to be sent to another machine.
  package internal(set) var isOutgoing: Bool

  /// The inbox sets the time of its state.
  package init(_ read: TagRead, uri: String?, title: String, receiver: TapReceiver) {
    self.init(
      read, uri: uri, title: title, receiver: receiver, state: .received,
      changed: Timestamp(microseconds: Int64(clamping: read.time)))
  }

  package init(
    _ read: TagRead, uri: String?, title: String, receiver: TapReceiver, state: TapState, changed: Timestamp,
    reason: TapReason = .none, place: NotificationPlace? = nil, isOutgoing: Bool = false
  ) {
    self.read = read
    self.uri = uri
    self.title = title
    self.receiver = receiver
    self.state = state
    self.changed = changed
    self.reason = reason
    self.place = place
    self.isOutgoing = isOutgoing
  }

  package var id: String { read.id }

  var time: Timestamp { Timestamp(microseconds: Int64(clamping: read.time)) }

  /// Whether the tap is done. A failed one on the screen waits for another try.
  var isOver: Bool {
    switch state {
    case .received, .shown, .opening: false
    case .delivered, .dismissed, .failedOffScreen, .expired: true
    case .failed: false
    }
  }
}

/// What opens a tap. Without any part, the tap is only shown or copied, or its network is joined.
package struct TapReceiver: Sendable, Hashable {
  /// A desktop id; nil if no app opens the tap.
  package let handler: String?
  /// The name of the rule that decides; nil if none does.
  package let rule: String?
  /// The program of that rule; nil if it runs none.
  package let program: String?

  package init(handler: String? = nil, rule: String? = nil, program: String? = nil) {
    (self.handler, self.rule, self.program) = (handler, rule, program)
  }
}

/// The state of a tap between the tag and the handler.
///
/// `received → shown → opening → delivered`, or one of the other ends:
///
/// ```
/// received ─→ shown ─→ opening ─→ delivered
///    │          │         └─────→ failed ─→ opening ("Try again"), delivered or failed (a late answer)
///    └──────────┴─→ opening, dismissed, failed, failedOffScreen, expired
/// failed ─→ dismissed, failedOffScreen
/// dismissed, failedOffScreen, expired ─→ opening (from the list, later)
/// dismissed, failedOffScreen ─→ delivered, failedOffScreen ─→ failedOffScreen (a late answer)
/// failedOffScreen, expired ─→ dismissed (from the list, later)
/// expired ─→ expired (it was shown again from the list)
/// delivered ─→ failed (the program of a rule ends with an error)
/// ```
///
/// The database uses the raw value, and the bus interface the ``name``.
package enum TapState: String, Sendable, Hashable, CaseIterable {
  /// Stored, but not on the screen yet. After a crash it is shown.
  case received
  /// A notification server accepted it. After a crash it is shown again.
  case shown
  /// The user clicked, and the handler is being sent the message. After a crash it becomes ``failed``.
  case opening
  /// The handler accepted the message, or the program of a rule was started.
  case delivered
  /// The user closed it, a newer tap of the same tag replaced it, or it is kept without a notification: for
  /// ``TapReason/Code/nothingToOpen``, ``TapReason/Code/ignored`` and ``TapReason/Code/headless``.
  case dismissed
  /// It was not handed over, or may not have been; the reason says why, also if the tap is ``dismissed`` then. A
  /// notification offers to try again, also after a restart.
  case failed
  /// It has failed, and no notification offers to try again: that has gone without a click, or the tap may not be
  /// opened (``TapReason/Code/refused``). It can be opened from the list, and the handler may answer after all.
  case failedOffScreen = "failed-off-screen"
  /// The notification server, newer taps or the retention ended its time on the screen.
  case expired

  /// For users and programs, to whom a failed tap is the same on the screen and off it.
  package var name: String { self == .failedOffScreen ? TapState.failed.rawValue : rawValue }

  /// The states with this name. Empty if no state has it.
  package static func named(_ name: String) -> Set<TapState> { Set(allCases.filter { $0.name == name }) }

  /// The state once the notification of a tap in this state has gone without a click.
  package var afterNotification: TapState { self == .failed ? .failedOffScreen : .expired }

  package var successors: Set<TapState> {
    switch self {
    case .received: [.shown, .opening, .dismissed, .failed, .failedOffScreen, .expired]
    case .shown: [.opening, .dismissed, .failed, .failedOffScreen, .expired]
    case .opening: [.delivered, .failed]
    case .failed: [.opening, .dismissed, .delivered, .failed, .failedOffScreen]
    case .failedOffScreen: [.opening, .dismissed, .delivered, .failedOffScreen]
    case .dismissed: [.opening, .delivered]
    case .expired: [.opening, .dismissed, .expired]
    case .delivered: [.failed]
    }
  }

  /// Whether the tap still waits for the user or for the handler.
  package var isOpen: Bool {
    switch self {
    case .received, .shown, .opening: true
    case .delivered, .dismissed, .failed, .failedOffScreen, .expired: false
    }
  }
}

/// Why a tap is in its state: a code for programs, and a detail for people.
///
/// The stored code is the same in all languages and versions. The words that a person reads are made when they are
/// shown.
package struct TapReason: Sendable, Hashable {
  /// Later versions may add some; of an unknown code only the ``TapReason/detail`` is shown.
  package struct Code: RawRepresentable, Sendable, Hashable {
    /// In the database and in the bus interface.
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    /// The state needs no reason, or the detail is the reason.
    package static let none = Code(rawValue: "")
    /// The agent ended while the tap was being opened.
    package static let endedWhileOpening = Code(rawValue: "ended-while-opening")
    /// The handler was sent the message and may have received it; the detail says more. Only older agents store this
    /// code. Newer ones use those of `HandOverDoubt`.
    package static let noAnswer = Code(rawValue: "no-answer")
    /// The handler refused the message; the detail may be its own error text.
    package static let handlerFailed = Code(rawValue: "handler-failed")
    /// The handler was not reached: it is not installed, or did not start.
    package static let notStarted = Code(rawValue: "not-started")
    /// The tag contains neither a link nor a text nor a record for apps. The tap is kept, without a notification.
    package static let nothingToOpen = Code(rawValue: "nothing-to-open")
    /// A rule of the user or the administrator ignores the tag, and the detail names it. Or no app takes the tag's
    /// record, for example a contact card, and the detail says why. Or the tag has no message, and no rule acts on it.
    /// The tap is kept, without a notification.
    package static let ignored = Code(rawValue: "ignored")
    /// The agent runs on a station without a desktop, so it can ask no user. Only rules with `Ask=no` act there. The
    /// tap is kept, without a notification.
    package static let headless = Code(rawValue: "headless")
    /// The contents of the tag are no message, and the detail says why.
    package static let damaged = Code(rawValue: "damaged")
    package static let refused = Code(rawValue: "refused")
    /// The same tag was read again, and its newer tap replaced this one.
    package static let tappedAgain = Code(rawValue: "tapped-again")
    /// Newer taps took its place on the screen.
    package static let madeRoom = Code(rawValue: "made-room")
    /// It waited longer than the retention allows.
    package static let overdue = Code(rawValue: "overdue")
  }

  package let code: Code
  /// One line, possibly from another program; empty if the code is enough.
  package let detail: String

  package static let none = TapReason(.none)

  /// In Unicode scalars.
  package static let maximumDetail = 500

  /// Makes one line of the detail. Control characters become spaces, and a long line is cut.
  package init(_ code: Code, detail: String = "") {
    self.code = code
    var line = String.UnicodeScalarView()
    for scalar in detail.unicodeScalars.prefix(Self.maximumDetail) {
      line.append(scalar.properties.generalCategory == .control ? " " : scalar)
    }
    self.detail = String(line)
  }
}
