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
  }

  private static let group = "Default Applications"
  private static let scheme = "x-scheme-handler/"
  private enum Key {
    static let file = "File"
    static let launch = "Launch"
    static let allowed = "Allowed"
    static let blocked = "Blocked"
  }
  /// More lines than these are not passed over in search of some that are right.
  private static let maximumDamage = 20

  init(directory: String) {
    intents = "\(directory)/\(Names.Files.intentApplications)"
    handlers = "\(directory)/\(Names.Files.handlerChoices)"
  }

  // MARK: Reading

  /// Reads both. A line that is wrong costs itself: one that is blocked stays blocked, whatever stands elsewhere.
  func read() -> Content {
    var content = Content()
    if let file = load(intents, &content.problems) { readPreferences(file, &content) }
    if let file = load(handlers, &content.problems) { readHandlers(file, &content) }
    return content
  }

  private func load(_ path: String, _ problems: inout [KeyFileError]) -> KeyFile? {
    do throws(KeyFileError) {
      guard var bytes = try KeyFile.contents(of: path) else { return nil }
      for _ in 0..<Self.maximumDamage {
        let attempt = parse(bytes, path)
        switch attempt {
        case .success(let file): return file
        case .failure(let error):
          problems.append(error)
          guard let line = error.line else { return nil }
          bytes = Self.without(line, of: bytes)
        }
      }
    } catch {
      problems.append(error)
    }
    return nil
  }

  private func parse(_ bytes: [UInt8], _ path: String) -> Result<KeyFile, KeyFileError> {
    Result { () throws(KeyFileError) -> KeyFile in try KeyFile(bytes: bytes, file: path) }
  }

  /// The line becomes a comment's beginning, so that those behind it keep their numbers.
  private static func without(_ line: Int, of bytes: [UInt8]) -> [UInt8] {
    var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    if lines.indices.contains(line - 1) { lines[line - 1] = [] }
    return Array(lines.joined(separator: [UInt8(ascii: "\n")]))
  }

  private func readPreferences(_ file: KeyFile, _ content: inout Content) {
    for entry in file.group(Self.group)?.entries ?? [] {
      guard let written = Self.claim(ofKey: entry.key) else { continue }
      guard let claim = HandlerChoices.claim(written) else {
        content.problems.append(file.mistake(entry, "\(entry.key) is about nothing that can be claimed", "remove it"))
        continue
      }
      guard let ids = list(entry, file, &content) else { continue }
      guard content.choices.count < HandlerChoices.maximumClaims else { return tooMany(file, &content) }
      content.choices.preferred[claim] = ids.map { $0.hasSuffix(".desktop") ? $0 : $0 + ".desktop" }
    }
  }

  private func readHandlers(_ file: KeyFile, _ content: inout Content) {
    for group in file.groups {
      func claims(_ key: String) -> Set<String> {
        guard let entry = file.entry(group.name, key), let list = list(entry, file, &content) else { return [] }
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
      let (allowed, blocked) = (claims(Key.allowed), claims(Key.blocked))
      guard content.choices.count + allowed.count + blocked.count <= HandlerChoices.maximumClaims else {
        return tooMany(file, &content)
      }
      if !blocked.isEmpty { content.choices.blocked[group.name] = blocked }
      if !allowed.isEmpty, let path = text(group.name, Key.file, file), let launch = text(group.name, Key.launch, file)
      {
        content.choices.allowed[group.name] = .init(place: .init(file: path, launch: launch), claims: allowed)
      }
    }
  }

  private func tooMany(_ file: KeyFile, _ content: inout Content) {
    content.problems.append(
      KeyFileError(
        file: file.file, line: nil,
        problem: "holds more than \(HandlerChoices.maximumClaims) choices; the rest is left out",
        remedy: "remove some"))
  }

  private func text(_ group: String, _ key: String, _ file: KeyFile) -> String? {
    (try? file.string(group, key)) ?? nil
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
  /// - Throws: `KeyFileError` where one of them is damaged or cannot be written; that one is as it was then.
  func write(_ new: HandlerChoices, over old: HandlerChoices) throws(KeyFileError) {
    var failure: KeyFileError?
    for (path, edits, mode) in [
      (intents, preferenceEdits(new, over: old), 0o666), (handlers, handlerEdits(new, over: old), 0o600),
    ] where !edits.isEmpty {
      do throws(KeyFileError) {
        try KeyFile.edit(path, edits, mode: UInt32(mode))
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
  }

  private func preferenceEdits(_ new: HandlerChoices, over old: HandlerChoices) -> [KeyFileEdit] {
    Set(new.preferred.keys).union(old.preferred.keys).sorted().compactMap { claim in
      guard new.preferred[claim] != old.preferred[claim] else { return nil }
      let key = Self.key(ofClaim: claim)
      guard let ids = new.preferred[claim] else { return .remove(group: Self.group, key: key) }
      return .setList(group: Self.group, key: key, to: ids)
    }
  }

  private func handlerEdits(_ new: HandlerChoices, over old: HandlerChoices) -> [KeyFileEdit] {
    let ids = [new, old].reduce(into: Set<String>()) { ids, choices in
      ids.formUnion(choices.allowed.keys)
      ids.formUnion(choices.blocked.keys)
    }
    var edits: [KeyFileEdit] = []
    for id in ids.sorted() where new.allowed[id] != old.allowed[id] || new.blocked[id] != old.blocked[id] {
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

  // MARK: Claims as keys

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
