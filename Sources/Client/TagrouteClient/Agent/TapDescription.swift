/// A tap in the inbox.
public struct TapDescription: BusRecord, Sendable, Hashable {
  /// A UUID.
  public var id = ""
  /// When the tag was read, in microseconds since 1970-01-01 00:00 UTC.
  public var time: UInt64 = 0
  /// The link, in its normal form.
  public var uri = ""
  /// The text of the notification, or a name for contents without a link or a text.
  public var title = ""
  /// `received`, `shown`, `opening`, `delivered`, `dismissed`, `failed`, `expired`. Later versions may add values.
  public var state = ""
  /// The desktop id of the handler; nil if there is none.
  public var handler: String?
  /// The whole NDEF message; nil in a list.
  public var message: [UInt8]?
  /// Why this handler was chosen, as decided before the tap was shown. Nil in a list, and after its notification has
  /// gone.
  public var reason: String?
  /// Why the tap is in its state; empty in a list, and if there is no more to report.
  public var stateReason = ""
  /// The same for programs, as documented for `ListInbox` of `org.tagroute.Agent1`. Later versions may add values.
  /// Empty in a list.
  public var stateReasonCode = ""
  /// When the tap entered its state, in the same unit as `time`; nil in a list.
  public var stateTime: UInt64?
  /// The tag's technology, for example `type-2`; empty in a list.
  public var technology = ""
  /// The tag's UID; empty in a list, and for a tag without one.
  public var uid: [UInt8] = []
  /// The reader's object path at the daemon; empty in a list.
  public var reader = ""
  /// Its position in a list; newer taps have greater numbers. Nil outside a list.
  public var sequence: UInt64?

  package init() {}

  package static var fields: [BusField<Self>] { listed + details }

  /// A list has the details only if it has the messages.
  package var presentFields: [BusField<Self>] { message == nil ? Self.listed : Self.fields }

  private static var listed: [BusField<Self>] {
    [
      .text("id", \.id), .number("time", \.time), .text("uri", \.uri), .text("title", \.title),
      .text("state", \.state), .textOrEmpty("handler", \.handler), .number("sequence", \.sequence).notInJSON,
    ]
  }

  private static var details: [BusField<Self>] {
    [
      .bytes("message", \.message), .text("reason", \.reason), .text("state-reason", \.stateReason),
      .text("state-reason-code", \.stateReasonCode), .number("state-time", \.stateTime),
      .text("technology", \.technology), .bytes("uid", \.uid), .text("reader", \.reader),
    ]
  }
}
