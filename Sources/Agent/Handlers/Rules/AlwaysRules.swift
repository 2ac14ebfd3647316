import CGIO
import Names
package import Routing
package import Settings

/// The rules that open one tag with one message without a click, because its user has asked for it in a notification.
///
/// They have UID= and Message=, so a tag that was rewritten asks again. They have Handler= if a handler opens the tag,
/// so that another entry with its id asks as well. MimeType= comes from the rule that decided before: it names a type
/// that an app may get as a file. There is one rule for each UID: the next one replaces it.
package struct AlwaysRules: Sendable, Hashable {
  private let writer: RuleWriter

  /// The rules in ``RuleWriter/always``.
  package init(_ files: RuleFiles = RuleFiles()) { writer = RuleWriter(files, file: RuleWriter.always) }

  /// Has no effect if the file has the rule already. Blocks on files.
  ///
  /// The label is the name of the rule that decides now; nil if none does. The other conditions are those that pass
  /// ``keeps(_:)``.
  package func add(
    label: String? = nil, uid: [UInt8], message: [UInt8], conditions: [TapRule.Condition] = [],
    action: TapRule.Action, onRemove: [String] = [], sound: String? = nil
  ) throws(KeyFileError) {
    guard UIDText.lengths.contains(uid.count), !UIDText.isRandom(uid), !message.isEmpty else {
      throw KeyFileError(
        file: writer.path ?? RuleWriter.always, line: nil, problem: "the tag has no UID that stays, or no message",
        remedy: "use another tag")
    }
    let draft = RuleDraft(
      name: Self.name(label, uid, 1),
      conditions: [.uid(uid), .message(MessageDigest.sha256(message))] + conditions.filter(Self.keeps),
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

  /// Returns false if the user wrote the rule by hand, or the file does not have it any more. Blocks on files.
  package func remove(_ rule: TapRule) throws(KeyFileError) -> Bool {
    guard owns(rule) else { return false }
    return try writer.remove(rule)
  }

  /// Whether ``add(label:uid:message:conditions:action:onRemove:sound:)`` wrote this rule, as far as its file and its form
  /// show.
  package func owns(_ rule: TapRule) -> Bool {
    rule.origin == .user && rule.file == writer.path && Self.isWritten(rule)
  }

  /// Whether an added rule would be tried before this one.
  package static func precede(_ rule: TapRule) -> Bool {
    let file = rule.file.split(separator: "/").last.map(String.init) ?? ""
    return rule.origin == .system || file > RuleWriter.always
  }

  /// Whether a rule keeps this condition of the rule that decided before. UID= and Message= cover the others. Without a
  /// kept one, the same action could have no effect, or open another app.
  package static func keeps(_ condition: TapRule.Condition) -> Bool {
    switch condition {
    case .mimeType, .handler: true
    case .uid, .link, .externalType, .text, .message, .technology, .reader: false
    }
  }

  private static let prefix = "Always: "
  /// In scalars. The name of a rule has at most 100 bytes.
  private static let maximumLabel = 20

  private static func name(_ label: String?, _ uid: [UInt8], _ number: Int) -> String {
    let label = label.map { String(String.UnicodeScalarView($0.unicodeScalars.prefix(maximumLabel))) }
    return prefix + (label ?? UIDText.text(uid)) + (number == 1 ? "" : " (\(number))")
  }

  private static func isWritten(_ rule: TapRule) -> Bool {
    guard rule.name.hasPrefix(prefix), !rule.asks, rule.conditions.count >= 2, case .uid = rule.conditions[0],
      case .message = rule.conditions[1]
    else { return false }
    return rule.conditions.dropFirst(2).allSatisfy(keeps)
  }
}

package enum MessageDigest {
  /// In lower-case hexadecimal digits.
  package static func sha256(_ bytes: [UInt8]) -> String {
    bytes.withUnsafeBufferPointer { buffer in
      guard let text = g_compute_checksum_for_data(G_CHECKSUM_SHA256, buffer.baseAddress, gsize(buffer.count)) else {
        return ""
      }
      defer { g_free(text) }
      return String(cString: text)
    }
  }
}
