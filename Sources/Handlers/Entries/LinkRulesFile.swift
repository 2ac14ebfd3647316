import UniversalLinks

/// The file of path rules that a desktop entry names with `Links=`. It says which links of its domains an application
/// handles, in the form of an apple-app-site-association file.
struct LinkRulesFile {
  /// The absolute path of the file.
  let path: String

  /// A file that is checked without a desktop entry.
  init(path: String) { self.path = path }

  /// The file at `name`, the value of `Links=`: an absolute path, or one relative to the folder of the desktop entry.
  /// If the entry was found as a link, the folder of the link is used.
  init(_ name: String, in entry: String) {
    path = name.hasPrefix("/") ? name : "\(entry[...(entry.lastIndex(of: "/") ?? entry.startIndex)])\(name)"
  }

  /// Reads and parses the file, for one application. Blocks on files. `size` grows by the number of bytes that were
  /// read, also if this throws.
  ///
  /// The error has line and column if it is about a position. An error rejects the whole file, because a skipped rule
  /// might be an exclusion.
  func rules(for desktopID: String, size: inout Int) throws(HandlerProblem) -> AppSiteAssociation {
    guard let association = try contents(size: &size) else {
      throw problem("there is no such file, but Links= of \(desktopID) names it")
    }
    let rules = association.limited { AppSiteAssociation.appID($0, means: desktopID) }
    guard !rules.details.isEmpty else {
      throw problem("none of its appIDs is \(desktopID), with or without .desktop, or ten characters, a dot and that")
    }
    return rules
  }

  /// The errors in the file that do not depend on an entry. If there are none: the rules that have no effect.
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
    let bytes = try Files.contents(
      of: path, size: &size, maximumSize: AppSiteAssociation.maximumSize,
      tooLarge: "is larger than \(AppSiteAssociation.maximumSize / 1024) KiB; shorten it")
    guard let bytes else { return nil }
    do throws(AssociationError) {
      return try AppSiteAssociation(json: bytes)
    } catch {
      throw problem(error)
    }
  }

  private func problem(_ error: AssociationError) -> HandlerProblem {
    HandlerProblem(
      file: path, line: error.position?.line, column: error.position?.column,
      message: (error.location.isEmpty ? "" : error.location + ": ") + error.message)
  }

  func problem(_ message: String) -> HandlerProblem { HandlerProblem(file: path, message: message) }
}
