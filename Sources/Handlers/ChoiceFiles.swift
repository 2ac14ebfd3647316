import KeyFile
import Names
import Routing

/// Where the user's choices are: two key files, each of which is written as a whole and may be changed by hand.
///
/// Who is preferred stands in `intentapps.list`, where freedesktop.org's draft "Intent Apps" has it: in the group `Default
/// Applications`, by interface. The domain is in brackets, as GNOME proposes it for URI handlers, and `.example.org` is what
/// is below that domain, for GLib takes no `*` there. A scheme is `x-scheme-handler/tel`, as in `mimeapps.list`. What the draft
/// has no place for, who is allowed and who is blocked, stands in a file of our own, a group a desktop id.
struct ChoiceFiles: Sendable, Hashable {
  /// `intentapps.list`.
  let intents: String
  /// Our own.
  let handlers: String

  /// What was read, and what is wrong with it.
  struct Content: Sendable {
    var choices = HandlerChoices()
    var problems: [KeyFileError] = []
    /// Whether the file could be opened and read, or is not there.
    var isKnown = (intents: true, handlers: true)
  }

  private static let group = "Default Applications"
  private static let scheme = "x-scheme-handler/"
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

  /// Reads both. A line that is wrong costs itself: one that is blocked stays blocked, whatever stands elsewhere.
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
      content.choices.preferred[claim] = ids.map(Self.desktopID)
    }
  }

  /// What is blocked first: nothing else takes its place.
  private func readHandlers(_ file: KeyFile, _ content: inout Content) {
    nameUnknownKeys(file, &content)
    var count = 0
    for group in file.groups {
      var blocked = claims(Key.blocked, group, file, &content)
      guard !blocked.isEmpty else { continue }
      if count + blocked.count > HandlerChoices.maximumClaims {
        // Those that do not fit are blocked from more, not from less.
        if count <= HandlerChoices.maximumClaims { tooMany(file, &content) }
        blocked = [HandlerChoices.everything]
        count = HandlerChoices.maximumClaims
      }
      count += blocked.count
      content.choices.blocked[Self.desktopID(group.name), default: []].formUnion(blocked)
    }
    count = content.choices.count
    for group in file.groups {
      let claims = claims(Key.allowed, group, file, &content)
      guard !claims.isEmpty, let path = text(group, Key.file, file), let launch = text(group, Key.launch, file) else {
        continue
      }
      count += claims.count
      guard count <= HandlerChoices.maximumClaims else { return tooMany(file, &content) }
      let (id, place) = (Self.desktopID(group.name), HandlerChoices.Place(file: path, launch: launch))
      let others = content.choices.allowed[id].flatMap { $0.place == place ? $0.claims : nil } ?? []
      content.choices.allowed[id] = .init(place: place, claims: claims.union(others))
    }
  }

  /// A key that is misspelt would be a block or a permission that is not there, and nobody would know. It stays in the file: it may
  /// be a later version's.
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

  /// Makes the files say `new` where they say `old`, and leaves all else as it is.
  ///
  /// A new file is the user's alone, also the one that other programs may share: which apps somebody prefers for which domains is
  /// nobody else's business, and those programs are the same user's. Who wants it otherwise changes its mode, which is kept.
  ///
  /// - Returns: why each is as it was: where it is damaged, or cannot be written.
  func write(_ new: HandlerChoices, over old: HandlerChoices) -> (intents: KeyFileError?, handlers: KeyFileError?) {
    (
      edit(intents) { preferenceEdits(new, over: old, in: $0) },
      edit(handlers) { handlerEdits(new, over: old, in: $0) }
    )
  }

  /// Why a file could not hold what is new, were it empty and could it be written.
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
    let spellings = Dictionary(grouping: file.groups.map(\.name), by: Self.desktopID)
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

  /// People leave out what is the same for all.
  private static func desktopID(_ written: String) -> String {
    written.hasSuffix(".desktop") ? written : written + ".desktop"
  }

  private static func key(ofClaim claim: String) -> String {
    if claim.hasSuffix(":") { return scheme + claim.dropLast() }
    return "\(Names.Handler.interface)[\(claim.hasPrefix("*.") ? String(claim.dropFirst()) : claim)]"
  }

  /// Nil for a key that is not ours.
  private static func claim(ofKey key: String) -> String? {
    if key.hasPrefix(scheme) { return key.dropFirst(scheme.count) + ":" }
    guard key.hasPrefix(Names.Handler.interface + "["), key.hasSuffix("]") else { return nil }
    let scope = key.dropFirst(Names.Handler.interface.count + 1).dropLast()
    return scope.hasPrefix(".") ? "*" + scope : String(scope)
  }
}
