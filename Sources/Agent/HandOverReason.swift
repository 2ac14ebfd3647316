import Handlers
import Inbox
import Notifications

extension HandOverOutcome {
  /// Why it was not delivered, as the inbox keeps it; nil where it was.
  var failure: TapReason? {
    switch self {
    case .delivered: nil
    case .failed(let failure): TapReason(.init(rawValue: failure.code.rawValue), detail: Self.line(failure.detail))
    case .unknown(let doubt): TapReason(.init(rawValue: doubt.code.rawValue), detail: Self.line(doubt.detail))
    }
  }

  /// It may be what a handler says.
  private static func line(_ detail: String) -> String { DisplayText(detail, limit: 200).string }
}

extension TapReason {
  /// What went wrong when it was handed over; nil where the reason is another.
  var handOverFailure: HandOverFailure? {
    HandOverFailure.Code(rawValue: code.rawValue).map { HandOverFailure($0, detail) }
  }

  /// Why nobody knows whether it was handed over; nil where the reason is another.
  var handOverDoubt: HandOverDoubt? { HandOverDoubt.Code(rawValue: code.rawValue).map { HandOverDoubt($0, detail) } }

  /// Whether the handler may have the message though the tap has failed.
  var leavesOpen: Bool { code == .endedWhileOpening || code == .noAnswer || handOverDoubt != nil }

  /// What it says in English, for D-Bus and the log; empty where there is nothing to say.
  var words: String {
    switch code {
    case .endedWhileOpening: "the agent ended while it was being opened; \(Self.mayHave)"
    case .noAnswer: "\(detail); \(Self.mayHave)"
    case .tappedAgain: "the same tag was read again"
    case .madeRoom: "newer taps took its place on the screen"
    case .overdue: "it had waited for too long"
    default:
      if let failure = handOverFailure {
        failure.description
      } else if let doubt = handOverDoubt {
        "\(doubt); \(Self.mayHave)"
      } else {
        detail
      }
    }
  }
  private static let mayHave = "it may have been opened"
}
