/// Why a tap has come to its state: what programs go by, and what is shown to a person.
///
/// The words are made where they are shown; what is stored is a code that stays the same over languages and versions.
public struct TapReason: Sendable, Hashable {
  /// What kind of reason it is. More may come: a code that nobody knows says nothing but its ``TapReason/detail``.
  public struct Code: RawRepresentable, Sendable, Hashable {
    /// What the database and the bus interface hold.
    public let rawValue: String

    /// - Parameter rawValue: what the database and the bus interface hold.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The state says it all, or what there is to say stands in the detail.
    public static let none = Code(rawValue: "")
    /// The agent ended while the tap was being opened.
    public static let endedWhileOpening = Code(rawValue: "ended-while-opening")
    /// The handler was given the message, and nobody knows whether it has taken it; the detail says why. What agents before this one
    /// have stored; others are the codes of `HandOverDoubt`.
    public static let noAnswer = Code(rawValue: "no-answer")
    /// The handler has said that it does not take it; the detail may be its words.
    public static let handlerFailed = Code(rawValue: "handler-failed")
    /// The handler was never reached: it is not there, or did not start.
    public static let notStarted = Code(rawValue: "not-started")
    /// The tag holds neither a link nor a text: a contact card, say. It is kept, and nothing is shown.
    public static let nothingToOpen = Code(rawValue: "nothing-to-open")
    /// The link on the tag may not be opened, or the message cannot be read.
    public static let refused = Code(rawValue: "refused")
    /// The same tag was read again, and its newer tap has taken the place of this one.
    public static let tappedAgain = Code(rawValue: "tapped-again")
    /// Newer taps have taken its place on the screen.
    public static let madeRoom = Code(rawValue: "made-room")
    /// It had waited for as long as the retention lets a tap wait.
    public static let overdue = Code(rawValue: "overdue")
  }

  /// What kind of reason it is.
  public let code: Code
  /// One line, which may be another program's words; empty where the code says it all.
  public let detail: String

  /// Nothing to say.
  public static let none = TapReason(.none)

  /// More than this of a detail is not kept, in Unicode scalars.
  public static let maximumDetail = 500

  /// - Parameters:
  ///   - code: what kind of reason it is.
  ///   - detail: what there is to say besides. Control characters become spaces, and what is too long is cut.
  public init(_ code: Code, detail: String = "") {
    self.code = code
    var line = String.UnicodeScalarView()
    for scalar in detail.unicodeScalars.prefix(Self.maximumDetail) {
      line.append(scalar.properties.generalCategory == .control ? " " : scalar)
    }
    self.detail = String(line)
  }
}
