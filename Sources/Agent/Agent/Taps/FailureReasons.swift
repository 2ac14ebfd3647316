import Handlers
import Inbox
import Notifications

extension HandOverOutcome {
  /// As the inbox stores it; nil if the tap was delivered.
  var failure: TapReason? {
    switch self {
    case .delivered: nil
    case .failed(let failure): TapReason(.init(rawValue: failure.code.rawValue), detail: Self.line(failure.detail))
    case .unknown(let doubt): TapReason(.init(rawValue: doubt.code.rawValue), detail: Self.line(doubt.detail))
    }
  }

  /// The detail may be a handler's message.
  private static func line(_ detail: String) -> String { DisplayText(detail, limit: 200).string }
}

extension TapReason {
  /// Nil for another reason.
  var handOverFailure: HandOverFailure? {
    HandOverFailure.Code(rawValue: code.rawValue).map { HandOverFailure($0, detail) }
  }

  /// Nil for another reason.
  var handOverDoubt: HandOverDoubt? { HandOverDoubt.Code(rawValue: code.rawValue).map { HandOverDoubt($0, detail) } }

  /// Whether the handler may have the message although the tap has failed.
  var mayHaveOpened: Bool { code == .endedWhileOpening || code == .noAnswer || handOverDoubt != nil }

  /// In English, for D-Bus and the log; may be empty.
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
