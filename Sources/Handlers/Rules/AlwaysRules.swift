public import KeyFile
import Names
public import Routing

/// The rules that open one tag with one message without a click, because its user has asked for it in a notification.
///
/// They have UID= and Message=, so a tag that was rewritten asks again, and Handler= if a handler opens the tag, so that
/// another entry with its id asks as well. There is one for each UID: the next one replaces it.
public struct AlwaysRules: Sendable, Hashable {
  private let writer: RuleWriter

  /// The rules in ``RuleWriter/always``.
  public init(_ files: RuleFiles = RuleFiles()) { writer = RuleWriter(files, file: RuleWriter.always) }

  /// Adds the rule for a tag. Does nothing if it is in the file already. Blocks on files.
  ///
  /// The label is the name of the rule that decides now; nil if none does. The handler is the one that opens the tag
  /// without rules, and needs no permission for it; nil for another app or a program.
  public func add(
    label: String? = nil, uid: [UInt8], message: [UInt8], handler: String? = nil, action: TapRule.Action,
    onRemove: [String] = [], sound: String? = nil
  ) throws(KeyFileError) {
    guard UIDText.lengths.contains(uid.count), !UIDText.isRandom(uid), !message.isEmpty else {
      throw KeyFileError(
        file: writer.path ?? RuleWriter.always, line: nil, problem: "the tag has no UID that stays, or no message",
        remedy: "use another tag")
    }
    let draft = RuleDraft(
      name: Self.name(label, uid, 1),
      conditions: [.uid(uid), .message(MessageDigest.sha256(message))] + (handler.map { [.handler($0)] } ?? []),
      action: action, asks: false, onRemove: onRemove, sound: sound)
    _ = try writer.change { present in
      guard !present.contains(where: draft.hasSameEffect) else { return (nil, []) }
      let replaced = present.filter { Self.isWritten($0) && $0.conditions.first == .uid(uid) }
      // The user may have given another rule this name.
      let names = Set(present.filter { !replaced.contains($0) }.map(\.name))
      var named = draft
      let free = (1...present.count + 1).lazy.map { Self.name(label, uid, $0) }.first { !names.contains($0) }
      named.name = free ?? draft.name
      return (named, replaced)
    }
  }

  /// Removes a rule. Returns false if the user wrote it by hand, or the file has it no more. Blocks on files.
  public func remove(_ rule: TapRule) throws(KeyFileError) -> Bool {
    guard owns(rule) else { return false }
    return try writer.remove(rule)
  }

  /// Whether this rule was written by ``add(label:uid:message:handler:action:onRemove:sound:)``, as far as its file and its form say.
  public func owns(_ rule: TapRule) -> Bool {
    rule.origin == .user && rule.file == writer.path && Self.isWritten(rule)
  }

  /// Whether an added rule would be tried before this one.
  public static func precede(_ rule: TapRule) -> Bool {
    let file = rule.file.split(separator: "/").last.map(String.init) ?? ""
    return rule.origin == .system || file > RuleWriter.always
  }

  private static let prefix = "Always: "
  /// In scalars. The name of a rule has at most 100 bytes.
  private static let maximumLabel = 20

  private static func name(_ label: String?, _ uid: [UInt8], _ number: Int) -> String {
    let label = label.map { String(String.UnicodeScalarView($0.unicodeScalars.prefix(maximumLabel))) }
    return prefix + (label ?? UIDText.text(uid)) + (number == 1 ? "" : " (\(number))")
  }

  private static func isWritten(_ rule: TapRule) -> Bool {
    guard rule.name.hasPrefix(prefix), !rule.asks, (2...3).contains(rule.conditions.count),
      case .uid = rule.conditions[0], case .message = rule.conditions[1]
    else { return false }
    if rule.conditions.count == 3, case .handler = rule.conditions[2] { return true }
    return rule.conditions.count == 2
  }
}
