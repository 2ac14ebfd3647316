/// What is to be removed from the inbox, for good.
///
/// What is just being opened always stays.
public struct InboxClearing: Sendable, Hashable {
  /// Only these taps; nil for all.
  public let ids: [String]?
  /// Only taps that were read before.
  public let before: Timestamp?
  /// The ids of the taps that have a notification. No other tap that waits is ever removed: it is just about to get one.
  public let onScreen: Set<String>
  /// Whether these are removed, too.
  public let includesOnScreen: Bool

  /// No more than this are removed in one go, so that a new tap has not to wait for it.
  public static let portion = 1000

  /// - Parameters:
  ///   - ids: only these taps, ``portion`` at most; nil for all.
  ///   - before: only taps that were read before.
  ///   - onScreen: the ids of the taps that have a notification.
  ///   - includesOnScreen: whether these are removed, too.
  public init(
    ids: [String]? = nil, before: Timestamp? = nil, onScreen: Set<String> = [], includesOnScreen: Bool = false
  ) {
    self.ids = ids.map { Array($0.prefix(Self.portion)) }
    self.before = before
    self.onScreen = onScreen
    self.includesOnScreen = includesOnScreen
  }
}

extension Inbox {
  /// The taps whose ids begin so, in the order of their ids, without their messages.
  ///
  /// - Parameters:
  ///   - prefix: the beginning of an id.
  ///   - limit: at most this many, up to ``InboxQuery/maximumLimit``.
  /// - Returns: the taps.
  /// - Throws: ``InboxError/Code/storage``.
  public func list(idPrefix prefix: String, limit: Int) throws(InboxError) -> [TapSummary] {
    let limit = min(max(limit, 1), InboxQuery.maximumLimit)
    return try attempt { store throws(SQLiteError) in try store.list(idPrefix: prefix, limit: limit) }
  }

  /// Removes taps for good, about ``InboxClearing/portion`` of them at most; where not only some ids are asked for, also the files of
  /// earlier inboxes that were put aside.
  ///
  /// - Parameter clearing: which.
  /// - Returns: their ids; as long as it is a whole portion or more, there may be others.
  /// - Throws: ``InboxError/Code/storage``, also where the file cannot be written: what is in it would come back.
  public func clear(_ clearing: InboxClearing) throws(InboxError) -> [String] {
    let removed = try attempt { store throws(SQLiteError) -> [String]? in
      // Also where the disk is full just now.
      guard !isDegraded else { return nil }
      return try store.transaction { () throws(SQLiteError) in
        try store.remove(clearing, limit: InboxClearing.portion)
      }
    }
    guard let removed else { throw isTaken ? .inUse : .notWritable }
    for id in removed.suffix(64) { finished.insert(id) }
    if clearing.ids == nil { file?.removeAside(before: clearing.before ?? Timestamp(microseconds: .max)) }
    return removed
  }
}
