#if !canImport(ObjectiveC)
  public import Foundation

  // swift-format-ignore: AlwaysUseLowerCamelCase
  /// The type of an activity that opens a link.
  public let NSUserActivityTypeBrowsingWeb: String = "NSUserActivityTypeBrowsingWeb"

  /// What a program was opened for. Foundation does not have this class on this system.
  ///
  /// A tag or a link opens a program with the type `NSUserActivityTypeBrowsingWeb`. If the program is only started, the
  /// type is `org.freedesktop.Application.Activate`. ``NFCUserActivityHandler`` delivers activities.
  open class NSUserActivity: NSObject {
    /// The type, such as `NSUserActivityTypeBrowsingWeb`.
    open private(set) var activityType: String
    /// A title for people; nil for none.
    open var title: String?
    /// Values that the program stores with the activity; nil for none.
    open var userInfo: [AnyHashable: Any]?
    /// The link that has led to the program; nil for none, or if `URL` does not accept it. A link from a tag is
    /// untrusted.
    open var webpageURL: URL?
    /// The whole message of the tag (iOS 12). It is well-formed, but its contents are untrusted.
    ///
    /// If no tag has opened the program, the message has one record of the format `empty`.
    open internal(set) var ndefMessagePayload = NFCNDEFMessage(records: [.emptyRecord])
    /// The xdg-activation token of the user's click, with which a window may come to the front; nil if there is none.
    /// An addition on this system.
    open internal(set) var activationToken: String?
    /// The id of the tap, a UUID, which is the same if a hand-over is repeated. Nil if no tag has opened the program,
    /// or if it reads the message from its standard input. An addition on this system.
    open internal(set) var tapIdentifier: String?
    /// The UID of the tag; nil if it has none, or if no tag has opened the program. A UID can be copied, and some tags
    /// have a new one at each reading. An addition on this system.
    open internal(set) var tagIdentifier: Data?
    /// The technology of the tag, for example `type-2`; nil if no tag has opened the program. An addition on this
    /// system.
    open internal(set) var tagTechnology: String?
    /// The object path of the reader at the daemon; nil if no tag has opened the program. An addition on this system.
    open internal(set) var readerIdentifier: String?
    /// When the tag was read; nil if no tag has opened the program. It may be days ago if the user opens the tap from
    /// the inbox. An addition on this system.
    open internal(set) var tagDate: Date?

    /// Makes an activity of a type.
    public init(activityType: String) {
      self.activityType = activityType
      super.init()
    }
  }

  extension NFCNDEFPayload {
    /// A record without type, identifier and payload.
    fileprivate static var emptyRecord: NFCNDEFPayload {
      NFCNDEFPayload(format: .empty, type: Data(), identifier: Data(), payload: Data())
    }
  }
#endif
