/// A setting as a program shows and changes it: as text, like in the file.
package struct SettingText: Sendable, Hashable {
  /// The group and the key, such as `Notifications.Timeout`.
  package let name: String
  package let value: String
  package let defaultValue: String
}

package enum SettingChangeError: Error, Sendable, Hashable {
  /// There is no such setting, or it cannot have the value. The text names the setting, and what is possible.
  case invalid(String)
  /// The file has a mistake, which has a line, or cannot be read or written.
  case file(KeyFileError)
}

extension AgentConfiguration {
  /// In the order of the shipped file.
  package var texts: [SettingText] {
    let defaults = AgentConfiguration()
    return Self.settings.compactMap { setting in
      setting.text.map { SettingText(name: setting.name, value: $0(self), defaultValue: $0(defaults)) }
    }
  }

  /// The names of the settings that a file has. None if it does not exist or cannot be read. Blocks.
  package static func names(inFile path: String) -> Set<String> {
    let file = (try? KeyFile.load(path)) ?? nil
    return Set((file?.groups ?? []).flatMap { group in group.entries.map { "\(group.name).\($0.key)" } })
  }

  /// Changes settings in a file, by their names: all of them or none. A setting without a value gets its default.
  ///
  /// The file keeps its other lines, and is created if it is missing. The values are checked first. A mistake that the
  /// file already has is an error, unless the changes fix it. Blocks.
  package static func change(_ path: String, _ changes: [String: String?]) throws(SettingChangeError) {
    var edits: [KeyFileEdit] = []
    // In the order of the shipped file, so that new lines have it, too.
    for setting in settings {
      if let change = changes[setting.name] { edits.append(try setting.edit(to: change)) }
    }
    if let unknown = changes.keys.sorted().first(where: { name in !settings.contains { $0.name == name } }) {
      let names = settings.map(\.name)
      let advice = Spelling.suggestion(for: unknown, among: names) ?? "use one of \(names.joined(separator: ", "))"
      throw .invalid("there is no setting \(unknown.prefix(100)): \(advice)")
    }
    do throws(KeyFileError) {
      try KeyFile.edit(path, edits, mode: 0o644) { file throws(KeyFileError) in
        var configuration = AgentConfiguration()
        try configuration.merge(file)
      }
    } catch {
      throw .file(error)
    }
  }
}

extension Setting<AgentConfiguration> {
  fileprivate var name: String { "\(group).\(key)" }

  /// Nil is the default.
  fileprivate func edit(to value: String?) throws(SettingChangeError) -> KeyFileEdit {
    guard let value else {
      return .reset(group: group, key: key, to: text.map { $0(AgentConfiguration()) } ?? "")
    }
    do throws(KeyFileError) {
      let file = try KeyFile(bytes: Array("[\(group)]\n\(key)=\(value)\n".utf8), file: "")
      // Otherwise the value would have a second line, or spaces that a reader ignores.
      guard file.entry(group, key)?.raw == value else {
        throw KeyFileError(file: "", line: nil, problem: "is not the text of a value", remedy: "write it on one line")
      }
      var configuration = AgentConfiguration()
      try apply(&configuration, file)
    } catch {
      throw .invalid("\(name): \(error.problem): \(error.remedy)")
    }
    return .set(group: group, key: key, to: value)
  }
}
