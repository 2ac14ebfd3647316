import Names
import Routing
import Settings

/// The two key files that hold the user's choices. Each is written as a whole, and may be edited by hand.
///
/// - `intentapps.list` holds the preferred handlers, in the group `Default Applications` of freedesktop.org's draft
///   "Intent Apps". Its keys are interfaces. The domain follows in brackets, as GNOME proposes for URI handlers.
///   `.example.org` stands for all subdomains, because GLib rejects `*` there. A scheme is `x-scheme-handler/tel`, as
///   in `mimeapps.list`, and a type of records is `x-tagroute-type/text/vcard`.
/// - Our own file holds the allowed and blocked handlers, which the draft does not cover. It has one group per desktop
///   id.
struct ChoiceFiles: Sendable, Hashable {
  /// The path of `intentapps.list`.
  let intents: String
  /// The path of our own file.
  let handlers: String

  struct Content: Sendable {
    var choices = HandlerChoices()
    var problems: [KeyFileError] = []
    /// For each file: it was read, or does not exist.
    var isKnown = (intents: true, handlers: true)
  }

  private static let group = "Default Applications"
  private static let scheme = "x-scheme-handler/"
  private static let recordType = "x-tagroute-type/"
  private enum Key {
    static let file = "File"
    static let launch = "Launch"
    static let allowed = "Allowed"
    static let blocked = "Blocked"
    static let all: Set = [file, launch, allowed, blocked]
  }

  init(directory: String) {
    intents = "\(directory)/\(Names.Files.intentApplications)"
    handlers = "\(directory)/\(Names.Files.handlerChoices)"
  }

  // MARK: Reading

  /// An invalid line is skipped and does not affect others. A block stays in force even if other lines are invalid.
  func read() -> Content {
    var content = Content()
    content.isKnown.handlers = load(handlers, &content) { readHandlers($0, &$1) }
    content.isKnown.intents = load(intents, &content) { readPreferences($0, &$1) }
    return content
  }

  private func load(_ path: String, _ content: inout Content, _ read: (KeyFile, inout Content) -> Void) -> Bool {
    do throws(KeyFileError) {
      guard let bytes = try KeyFile.contents(of: path) else { return true }
      guard let file = SalvagedKeyFile.read(bytes, path, &content.problems) else { return false }
      read(file, &content)
      return true
    } catch {
      content.problems.append(error)
      return false
    }
  }

  private func readPreferences(_ file: KeyFile, _ content: inout Content) {
    for entry in file.group(Self.group)?.entries ?? [] {
      guard let written = Self.claim(ofKey: entry.key) else { continue }
      guard let claim = HandlerChoices.claim(written) else {
        content.problems.append(file.mistake(entry, "\(entry.key) is about nothing that can be claimed", "remove it"))
        continue
      }
      guard var ids = list(entry, file, &content) else { continue }
      if ids.count > HandlerChoices.maximumPreferences {
        let most = HandlerChoices.maximumPreferences
        content.problems.append(
          file.mistake(entry, "\(entry.key) names more than \(most) handlers; the rest is left out", "remove some"))
        ids = Array(ids.prefix(most))
      }
      guard content.choices.count < HandlerChoices.maximumClaims else { return tooMany(file, &content) }
      content.choices.preferred[claim] = ids.map(AppID.desktopID)
    }
  }

  /// Reads all blocks first, so that permissions cannot use up the room for them.
  private func readHandlers(_ file: KeyFile, _ content: inout Content) {
    nameUnknownKeys(file, &content)
    var count = 0
    for group in file.groups {
      var blocked = claims(Key.blocked, group, file, &content)
      guard !blocked.isEmpty else { continue }
      if count + blocked.count > HandlerChoices.maximumClaims {
        // A handler with too many blocks is blocked from everything, rather than from too little.
        if count <= HandlerChoices.maximumClaims { tooMany(file, &content) }
        blocked = [HandlerChoices.everything]
        count = HandlerChoices.maximumClaims
      }
      count += blocked.count
      content.choices.blocked[AppID.desktopID(group.name), default: []].formUnion(blocked)
    }
    count = content.choices.count
    for group in file.groups {
      let claims = claims(Key.allowed, group, file, &content)
      guard !claims.isEmpty, let path = text(group, Key.file, file), let launch = text(group, Key.launch, file) else {
        continue
      }
      count += claims.count
      guard count <= HandlerChoices.maximumClaims else { return tooMany(file, &content) }
      let (id, place) = (AppID.desktopID(group.name), HandlerChoices.Place(file: path, launch: launch))
      let others = content.choices.allowed[id].flatMap { $0.place == place ? $0.claims : nil } ?? []
      content.choices.allowed[id] = .init(place: place, claims: claims.union(others))
    }
  }

  /// Reports unknown keys. A misspelt key is a block or a permission without effect, and the user would not notice. The
  /// key stays in the file, because a later version may know it.
  private func nameUnknownKeys(_ file: KeyFile, _ content: inout Content) {
    let unknown = file.groups.lazy.flatMap(\.entries).filter { !Key.all.contains($0.key) }
    for entry in unknown.prefix(SalvagedKeyFile.mostNamed) {
      content.problems.append(
        file.mistake(
          entry, "there is no key \(entry.key.prefix(60)), so it says nothing",
          "the known ones are \(Key.all.sorted().joined(separator: ", "))"))
    }
  }

  private func claims(_ key: String, _ group: KeyFile.Group, _ file: KeyFile, _ content: inout Content) -> Set<String> {
    guard let entry = group.entries.first(where: { $0.key == key }), let list = list(entry, file, &content) else {
      return []
    }
    var claims: Set<String> = []
    for text in list {
      if key == Key.blocked, text == HandlerChoices.everything {
        claims.insert(text)
      } else if let claim = HandlerChoices.claim(text) {
        claims.insert(claim)
      } else {
        content.problems.append(file.mistake(entry, "\(KeyFile.quoted(entry)) is no list of claims", "correct it"))
      }
    }
    return claims
  }

  private func tooMany(_ file: KeyFile, _ content: inout Content) {
    content.problems.append(
      KeyFileError(
        file: file.file, line: nil,
        problem: "holds more than \(HandlerChoices.maximumClaims) choices; the rest is left out",
        remedy: "remove some"))
  }

  private func text(_ group: KeyFile.Group, _ key: String, _ file: KeyFile) -> String? {
    group.entries.first { $0.key == key }.flatMap { try? file.string($0) }
  }

  private func list(_ entry: KeyFile.Entry, _ file: KeyFile, _ content: inout Content) -> [String]? {
    do throws(KeyFileError) {
      return try file.strings(entry).filter { !$0.isEmpty }
    } catch {
      content.problems.append(error)
      return nil
    }
  }

  // MARK: Writing

  /// Changes the files from `old` to `new`, and leaves everything else in them as it is.
  ///
  /// Only the user can read a new file. That includes `intentapps.list`, which other programs may share: the preferred
  /// apps are private, and those programs run as the same user. If the user changes a file's mode, it is kept.
  ///
  /// Returns for each file why it is unchanged: it is damaged, or cannot be written.
  func write(_ new: HandlerChoices, over old: HandlerChoices) -> (intents: KeyFileError?, handlers: KeyFileError?) {
    (
      edit(intents) { preferenceEdits(new, over: old, in: $0) },
      edit(handlers) { handlerEdits(new, over: old, in: $0) }
    )
  }

  /// Why the file could not hold the new choices, even if it were empty and could be written.
  func obstacle(to new: HandlerChoices, over old: HandlerChoices) -> KeyFileError? {
    let empty = KeyFile.empty
    for (path, edits) in [
      (intents, preferenceEdits(new, over: old, in: empty)), (handlers, handlerEdits(new, over: old, in: empty)),
    ] {
      if let edit = edits.first(where: { !$0.canBeWritten }) { return edit.mistake(in: path) }
    }
    return nil
  }

  private func edit(_ path: String, _ edits: (KeyFile) -> [KeyFileEdit]) -> KeyFileError? {
    guard !edits(.empty).isEmpty else { return nil }
    do throws(KeyFileError) {
      try KeyFile.edit(path, mode: 0o600, edits)
      return nil
    } catch {
      return error
    }
  }

  private func preferenceEdits(
    _ new: HandlerChoices, over old: HandlerChoices, in file: KeyFile
  ) -> [KeyFileEdit] {
    let keys = file.group(Self.group)?.entries.map(\.key) ?? []
    let spellings = Dictionary(grouping: keys) { Self.claim(ofKey: $0).flatMap(HandlerChoices.claim) }
    return Set(new.preferred.keys).union(old.preferred.keys).sorted().flatMap { claim -> [KeyFileEdit] in
      guard new.preferred[claim] != old.preferred[claim] else { return [] }
      let key = Self.key(ofClaim: claim)
      let others = (spellings[claim] ?? []).filter { $0 != key }.map { KeyFileEdit.remove(group: Self.group, key: $0) }
      guard let ids = new.preferred[claim] else { return others + [.remove(group: Self.group, key: key)] }
      return others + [.setList(group: Self.group, key: key, to: ids)]
    }
  }

  private func handlerEdits(_ new: HandlerChoices, over old: HandlerChoices, in file: KeyFile) -> [KeyFileEdit] {
    let spellings = Dictionary(grouping: file.groups.map(\.name), by: AppID.desktopID)
    let ids = [new, old].reduce(into: Set<String>()) { ids, choices in
      ids.formUnion(choices.allowed.keys)
      ids.formUnion(choices.blocked.keys)
    }
    var edits: [KeyFileEdit] = []
    for id in ids.sorted() where new.allowed[id] != old.allowed[id] || new.blocked[id] != old.blocked[id] {
      edits += (spellings[id] ?? []).filter { $0 != id }.map { .removeGroup($0) }
      let (permission, blocked) = (new.allowed[id], new.blocked[id])
      guard permission != nil || blocked != nil else {
        edits.append(.removeGroup(id))
        continue
      }
      if let permission {
        edits += [
          .set(group: id, key: Key.file, to: permission.place.file),
          .set(group: id, key: Key.launch, to: permission.place.launch),
          .setList(group: id, key: Key.allowed, to: permission.claims.sorted()),
        ]
      } else {
        edits += [Key.file, Key.launch, Key.allowed].map { .remove(group: id, key: $0) }
      }
      edits.append(
        blocked.map { .setList(group: id, key: Key.blocked, to: $0.sorted()) } ?? .remove(group: id, key: Key.blocked))
    }
    return edits
  }

  // MARK: Claims as keys, handlers as groups

  private static func key(ofClaim claim: String) -> String {
    if claim.hasSuffix(":") { return scheme + claim.dropLast() }
    // GLib rejects a slash and a colon in the brackets. A domain has neither.
    if claim.contains("/") || claim.contains(":") { return recordType + claim }
    return "\(Names.Handler.interface)[\(claim.hasPrefix("*.") ? String(claim.dropFirst()) : claim)]"
  }

  /// Nil for a key that is not ours.
  private static func claim(ofKey key: String) -> String? {
    if key.hasPrefix(scheme) { return key.dropFirst(scheme.count) + ":" }
    if key.hasPrefix(recordType) { return String(key.dropFirst(recordType.count)) }
    guard key.hasPrefix(Names.Handler.interface + "["), key.hasSuffix("]") else { return nil }
    let scope = key.dropFirst(Names.Handler.interface.count + 1).dropLast()
    return scope.hasPrefix(".") ? "*" + scope : String(scope)
  }
}
