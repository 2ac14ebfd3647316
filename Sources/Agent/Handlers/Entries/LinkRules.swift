import Names
import Settings
import UniversalLinks

/// The path rules of a desktop entry. They say which links of its domains an application handles, in the form of an
/// apple-app-site-association file. They are in a file that `Links=` names, or in `LinksInline=` of the entry itself.
struct LinkRules {
  private enum Source: Hashable {
    /// The text is in the entry with this key.
    case entry(KeyFile.Entry, text: String)
    /// The file at `path`. If it is missing although a Flatpak's entry names it, Flatpak has not exported it.
    case file(isFlatpaks: Bool)
  }

  /// As errors show it.
  let path: String
  private let source: Source

  /// For a file that is checked without a desktop entry.
  init(path: String) {
    self.path = path
    source = .file(isFlatpaks: false)
  }

  /// The rules of an entry, from one of its keys; nil if it has neither key, or only empty ones.
  ///
  /// `Links=` is an absolute path, or one relative to the folder of the desktop entry. If the entry was found as a
  /// link, the folder of the link is used. Throws if the entry has both keys, because either may have the exclusion
  /// that matters.
  init?(_ keyFile: KeyFile, in group: String) throws(HandlerProblem) {
    let name = try keyFile.text("Links", in: group) ?? ""
    let text = try keyFile.text(Self.inlineKey, in: group) ?? ""
    guard name.isEmpty || text.isEmpty else {
      throw keyFile.problem(
        Self.inlineKey, in: group, "the entry has both Links= and \(Self.inlineKey)=: remove one of them")
    }
    if let entry = keyFile.entry(group, Self.inlineKey), !text.isEmpty {
      path = keyFile.file
      source = .entry(entry, text: text)
      return
    }
    guard !name.isEmpty else { return nil }
    let entry = keyFile.file
    path = name.hasPrefix("/") ? name : "\(entry[...(entry.lastIndex(of: "/") ?? entry.startIndex)])\(name)"
    source = .file(isFlatpaks: keyFile.entry(DesktopEntry.group, DataDirectories.flatpakKey) != nil)
  }

  /// Flatpak and other tools that export only the desktop entry keep this key.
  static let inlineKey = "LinksInline"

  /// The file to watch for changes; nil if the rules are in the entry.
  var file: String? { if case .file = source { path } else { nil } }

  /// Reads and parses the rules, for one application. Blocks on files. `size` grows by the number of bytes that were
  /// read, also if this throws.
  ///
  /// The error has line and column if it is about a position. An error rejects all the rules, because a skipped rule
  /// might be an exclusion.
  func rules(for desktopID: String, size: inout Int) throws(HandlerProblem) -> AppSiteAssociation {
    guard let association = try contents(size: &size) else {
      throw problem("there is no such file, but Links= of \(AppID.text(desktopID)) names it\(remedyForMissing)")
    }
    let rules = association.limited { AppSiteAssociation.appID($0, means: desktopID) }
    guard !rules.details.isEmpty else {
      throw problem("none of its appIDs is \(desktopID), with or without .desktop, or ten characters, a dot and that")
    }
    return rules
  }

  /// In the rules themselves, not in an entry. Without errors: the rules that have no effect.
  func problems() -> [HandlerProblem] {
    var size = 0
    do throws(HandlerProblem) {
      return try contents(size: &size)?.remarks.map(problem) ?? []
    } catch {
      return [error]
    }
  }

  /// Nil if the file does not exist.
  private func contents(size: inout Int) throws(HandlerProblem) -> AppSiteAssociation? {
    let tooLarge = "is larger than \(AppSiteAssociation.maximumSize / 1024) KiB; shorten it"
    let bytes: [UInt8]?
    switch source {
    case .file:
      bytes = try Files.contents(
        of: path, size: &size, maximumSize: AppSiteAssociation.maximumSize, tooLarge: tooLarge)
    case .entry(_, let text):
      size += text.utf8.count
      guard text.utf8.count <= AppSiteAssociation.maximumSize else {
        throw problem("it \(tooLarge)")
      }
      bytes = Array(text.utf8)
    }
    guard let bytes else { return nil }
    do throws(AssociationError) {
      return try AppSiteAssociation(json: bytes)
    } catch {
      throw problem(error)
    }
  }

  private var remedyForMissing: String {
    guard source == .file(isFlatpaks: true) else { return "" }
    return ". Flatpak exports no file beside the entry: write the rules into \(Self.inlineKey)="
  }

  private func problem(_ error: AssociationError) -> HandlerProblem {
    let message = (error.location.isEmpty ? "" : error.location + ": ") + error.message
    guard case .entry(let entry, _) = source else {
      return HandlerProblem(
        file: path, line: error.position?.line, column: error.position?.column, message: message)
    }
    return HandlerProblem(
      file: path, line: entry.line, column: error.position.map { Self.column(of: $0, in: entry) },
      message: "\(Self.inlineKey)=: \(message)")
  }

  func problem(_ message: String) -> HandlerProblem {
    guard case .entry(let entry, _) = source else { return HandlerProblem(file: path, message: message) }
    return HandlerProblem(file: path, line: entry.line, message: "\(Self.inlineKey)=: \(message)")
  }

  /// The column in the line of the entry. The text is the entry's value without its escapes, each of which is two
  /// characters in the line.
  private static func column(of position: AssociationError.Position, in entry: KeyFile.Entry) -> Int {
    var (line, column, isEscaped) = (1, 1, false)
    var result = entry.column
    for scalar in entry.raw.unicodeScalars {
      if isEscaped {
        isEscaped = false
        if scalar == "n" { (line, column) = (line + 1, 1) } else { column += 1 }
      } else if (line, column) == (position.line, position.column) {
        break
      } else if scalar == "\\" {
        isEscaped = true
      } else {
        column += 1
      }
      result += 1
    }
    return result
  }
}
