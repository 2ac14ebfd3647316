import Routing
import Settings

/// Finds the applications that rules name. They need not be handlers.
struct InstalledApplications {
  let directories: DataDirectories
  let environment: [String: String]
  var ownership = FileOwnership.real

  /// The application with this desktop id, if it can be given a link or a file; nil otherwise. Blocks on files.
  func application(_ id: String) -> RuleSet.NamedApplication? {
    for directory in directories.applications {
      for path in paths(of: id, in: directory) {
        // As in the Desktop Entry Specification, the first file with this id decides.
        guard let bytes = try? Files.contents(of: path) else { continue }
        guard let keyFile = try? KeyFile(bytes: bytes, file: path), (try? keyFile.flag("Hidden")) != true else {
          return nil
        }
        let isExported = DataDirectories.storeKeys.contains { keyFile.entry(DesktopEntry.group, $0) != nil }
        let entry = try? DesktopEntry(
          keyFile, desktopID: id,
          origin: directories.origin(of: path, isExported: isExported, ownership: ownership),
          languages: LanguagePreference.languages(in: environment))
        guard let application = entry?.application else { return nil }
        let hand = ExecHandOver(application: application, environment: environment)
        let named = RuleSet.NamedApplication(
          application, takesLinks: hand.obstacle(to: .link) == nil, takesFiles: hand.obstacle(to: .file) == nil)
        return named.takesLinks || named.takesFiles ? named : nil
      }
    }
    return nil
  }

  /// The file of an id, and the one in a subdirectory: its name is then before the first hyphen.
  private func paths(of id: String, in directory: String) -> [String] {
    let hyphen = id.firstIndex(of: "-").map { "\(directory)/\(id[..<$0])/\(id[id.index(after: $0)...])" }
    return ["\(directory)/\(id)", hyphen].compactMap(\.self)
  }
}
