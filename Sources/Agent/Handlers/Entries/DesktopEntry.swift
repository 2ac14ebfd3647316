import Names
import Routing
import Settings
import UniversalLinks

/// The values needed to name, start and call an application (Desktop Entry Specification 1.5).
struct DesktopEntry: Sendable, Hashable {
  static let group = "Desktop Entry"

  let application: Application
  /// Nil if the application can be started only over D-Bus.
  let commandLine: CommandLineTemplate?
  /// The working directory (`Path`).
  let workingDirectory: String?
  let usesTerminal: Bool

  /// The languages are as in `LanguagePreference`.
  ///
  /// Throws if the entry is invalid, or has no way to start the application.
  init(
    _ keyFile: KeyFile, desktopID: String, origin: Application.Origin, languages: [String]
  ) throws(HandlerProblem) {
    guard try keyFile.text("Type") == "Application" else {
      throw keyFile.problem("Type", "Type is not Application; only applications can be handlers")
    }
    var name = try keyFile.text("Name") ?? ""
    guard !name.isEmpty else { throw keyFile.problem("Name", "there is no Name") }
    for language in languages {
      guard let translated = try keyFile.text("Name[\(language)]"), !translated.isEmpty else { continue }
      name = translated
      break
    }
    guard name.utf8.count <= 1024 else { throw keyFile.problem("Name", "Name is longer than 1 KiB; shorten it") }
    let icon = try keyFile.text("Icon")
    guard (icon ?? "").utf8.count <= 4096 else {
      throw keyFile.problem("Icon", "Icon is longer than 4 KiB; give a name or a path")
    }
    let isDBusActivatable = try keyFile.flag("DBusActivatable")
    if isDBusActivatable, !DesktopEntry.isBusName(desktopID.dropLast(".desktop".count)) {
      throw keyFile.problem(
        "DBusActivatable", "the file's name without .desktop must be a D-Bus name, such as org.example.Menu")
    }
    let exec = try keyFile.text("Exec") ?? ""
    if !exec.isEmpty {
      do {
        commandLine = try CommandLineTemplate(exec)
      } catch {
        throw keyFile.problem("Exec", "Exec cannot be run: \(error)")
      }
    } else if isDBusActivatable {
      commandLine = nil
    } else {
      throw keyFile.problem("Exec", "there is neither Exec nor DBusActivatable=true")
    }
    workingDirectory = try keyFile.text("Path").flatMap { $0.hasPrefix("/") ? $0 : nil }
    usesTerminal = try keyFile.flag("Terminal")
    application = Application(
      desktopID: desktopID, name: name, icon: icon, file: keyFile.file,
      isDBusActivatable: isDBusActivatable, origin: origin,
      launch: [isDBusActivatable ? "D-Bus" : "", exec].filter { !$0.isEmpty }.joined(separator: ", "))
  }

  /// D-Bus Specification, "Bus names".
  static func isBusName(_ text: Substring) -> Bool {
    let elements = text.split(separator: ".", omittingEmptySubsequences: false)
    return elements.count >= 2 && text.utf8.count <= 255
      && elements.allSatisfy { element in
        guard let first = element.first, !first.isWholeNumber else { return false }
        return element.utf8.allSatisfy { byte in
          switch byte {
          case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
          case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"): true
          default: false
          }
        }
      }
  }
}

extension KeyFile {
  func text(_ key: String, in group: String = DesktopEntry.group) throws(HandlerProblem) -> String? {
    do {
      return try string(group, key)
    } catch {
      throw HandlerProblem(error)
    }
  }

  /// Without empty elements.
  func list(_ key: String, in group: String = DesktopEntry.group) throws(HandlerProblem) -> [String] {
    do {
      return try strings(group, key)?.filter { !$0.isEmpty } ?? []
    } catch {
      throw HandlerProblem(error)
    }
  }

  /// `true` or `false`; false if the key is missing. Old files use `1` and `0`.
  func flag(_ key: String) throws(HandlerProblem) -> Bool {
    switch try text(key) {
    case nil, "false", "0": return false
    case "true", "1": return true
    default: throw problem(key, "\(key) is neither true nor false")
    }
  }

  /// `file:line`, or only the file if the entry is missing.
  func place(of key: String) -> String {
    file + (entry(DesktopEntry.group, key).map { ":\($0.line)" } ?? "")
  }

  func problem(_ key: String, in group: String = DesktopEntry.group, _ message: String) -> HandlerProblem {
    HandlerProblem(file: file, line: entry(group, key)?.line ?? self.group(group)?.line, message: message)
  }
}

extension HandlerProblem {
  init(_ error: KeyFileError) {
    self.init(file: error.file, line: error.line, message: "\(error.problem): \(error.remedy)")
  }
}

/// Why a desktop entry, or a part of one, is not used as a handler.
package struct HandlerProblem: Error, Sendable, Hashable, CustomStringConvertible {
  /// The path of the desktop entry, of the file of path rules that it names, or of the directory.
  package let file: String
  /// From 1; nil if the problem is not about a line.
  package let line: Int?
  /// From 1, in Unicode scalars; nil if the problem is not about a column.
  package let column: Int?
  /// The mistake and its correction.
  package let message: String
  /// Of the affected entry; nil if the problem is not about an entry.
  package internal(set) var desktopID: String?

  package init(file: String, line: Int? = nil, column: Int? = nil, message: String, desktopID: String? = nil) {
    self.file = file
    self.line = line
    self.column = column
    self.message = message
    self.desktopID = desktopID
  }

  /// `file:line:column: message`.
  package var description: String {
    "\(file)\(line.map { ":\($0)" } ?? "")\(column.map { ":\($0)" } ?? ""): \(message)"
  }
}

/// The user's languages, in the form in which desktop entries mark translations.
package enum LanguagePreference {
  /// The variants to look for, the best first (Desktop Entry Specification 1.5, "Localized values for keys"). For
  /// `de_AT.UTF-8@euro`: `de_AT@euro`, `de_AT`, `de@euro`, `de`.
  ///
  /// The environment contains `LANGUAGE`, `LC_ALL`, `LC_MESSAGES` and `LANG`.
  package static func languages(in environment: [String: String]) -> [String] {
    func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
    guard let locale = value("LC_ALL") ?? value("LC_MESSAGES") ?? value("LANG"), locale != "C", locale != "POSIX" else {
      return []
    }
    let locales = (value("LANGUAGE") ?? "").split(separator: ":").map(String.init) + [locale]
    var seen: Set<String> = []
    return locales.prefix(16).flatMap(variants).filter { seen.insert($0).inserted }
  }

  private static func variants(of locale: String) -> [String] {
    let (base, modifier) = split(locale, at: "@")
    let (name, _) = split(base, at: ".")
    let (language, country) = split(name, at: "_")
    guard !language.isEmpty, language != "C" else { return [] }
    var result: [String] = []
    if let country, let modifier { result.append("\(language)_\(country)@\(modifier)") }
    if let country { result.append("\(language)_\(country)") }
    if let modifier { result.append("\(language)@\(modifier)") }
    return result + [language]
  }

  private static func split(_ text: String, at separator: Character) -> (String, String?) {
    guard let index = text.firstIndex(of: separator) else { return (text, nil) }
    return (String(text[..<index]), String(text[index...].dropFirst()))
  }
}
