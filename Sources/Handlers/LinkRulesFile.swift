import UniversalLinks

/// The file of path rules that a desktop entry names with `Links=`: which links of its domains an application wants, in the form of
/// an apple-app-site-association file.
struct LinkRulesFile {
  /// Absolute.
  let path: String

  /// A file that no desktop entry is needed for.
  init(path: String) { self.path = path }

  /// - Parameters:
  ///   - name: the value of `Links=`: an absolute path, or one relative to the folder of the desktop entry.
  ///   - entry: the absolute path of the desktop entry, as it was found: a link is not followed.
  init(_ name: String, in entry: String) {
    path = name.hasPrefix("/") ? name : "\(entry[...(entry.lastIndex(of: "/") ?? entry.startIndex)])\(name)"
  }

  /// Reads and parses it. Blocks on files.
  ///
  /// - Parameter desktopID: the application's.
  /// - Returns: the rules for this application alone, and the file's size in bytes.
  /// - Throws: `HandlerProblem`, with line and column where it is about a place. A rule that is left out could be the exclusion that
  ///   matters, so that there is no half of a file.
  func rules(for desktopID: String) throws(HandlerProblem) -> (rules: AppSiteAssociation, size: Int) {
    guard let (association, size) = try contents() else {
      throw problem("there is no such file, but Links= of \(desktopID) names it")
    }
    let rules = association.limited { AppSiteAssociation.appID($0, means: desktopID) }
    guard !rules.details.isEmpty else {
      throw problem("none of its appIDs is \(desktopID), with or without .desktop, or ten characters, a dot and that")
    }
    return (rules, size)
  }

  /// What is wrong with it whoever names it, or else what in it has no effect.
  func problems() -> [HandlerProblem] {
    do throws(HandlerProblem) {
      return try contents()?.association.remarks.map(problem) ?? []
    } catch {
      return [error]
    }
  }

  /// Nil where there is no such file.
  private func contents() throws(HandlerProblem) -> (association: AppSiteAssociation, size: Int)? {
    let bytes = try Files.contents(
      of: path, maximumSize: AppSiteAssociation.maximumSize,
      tooLarge: "is larger than \(AppSiteAssociation.maximumSize / 1024) KiB; shorten it")
    guard let bytes else { return nil }
    do throws(AssociationError) {
      return (try AppSiteAssociation(json: bytes), bytes.count)
    } catch {
      throw problem(error)
    }
  }

  /// What is wrong in the file.
  private func problem(_ error: AssociationError) -> HandlerProblem {
    HandlerProblem(
      file: path, line: error.position?.line, column: error.position?.column,
      message: (error.location.isEmpty ? "" : error.location + ": ") + error.message)
  }

  func problem(_ message: String) -> HandlerProblem { HandlerProblem(file: path, message: message) }
}
