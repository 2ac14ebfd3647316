import Notifications
package import TagrouteClient

/// The settings in the window, and the changes that are under way. Pure: events in, actions out.
///
/// A change is applied at once. While one of a setting is under way, only the latest further one waits.
package struct PreferenceForm: Sendable {
  package enum Event: Sendable {
    /// The file or the agent may have changed.
    case changed
    /// The settings by their names.
    case answered([String: SettingDescription])
    /// The agent does not answer, or is too old, with the reason.
    case unreachable(String)
    /// The user sets a setting; nil for its default.
    case edited(String, String?)
    /// The user accepts what cannot be undone.
    case confirmed(String, String)
    /// The change of this setting is done, or the agent has refused it, with the reason.
    case changeEnded(String, String?)
  }

  package enum Action: Sendable, Hashable {
    /// Asks the agent for its settings.
    case ask
    case change(String, String?)
    /// Asks the user whether to go on.
    case warn(Preference.Warning, setting: String)
    /// The fields have changed.
    case show
  }

  /// What the window shows of one setting.
  package struct Field: Sendable, Hashable {
    package let value: String
    package let defaultWords: String
    /// Whether the file has the setting, so that it can get its default again.
    package let isSet: Bool
    /// Why the agent has refused a value; empty if it has not.
    package let problem: String
  }

  private let preferences: [String: Preference]
  private var settings: [String: SettingDescription] = [:]
  /// Why there are no settings; empty if there are some, or if none were asked for yet.
  package private(set) var problem = ""
  private var isAsking = false
  private var isStale = false
  /// What the user has entered and the agent has not taken. A value that it has refused stays in an entry, so that the
  /// user can correct it.
  private var entered: [String: String] = [:]
  private var problems: [String: String] = [:]
  private var underWay: Set<String> = []
  private var waiting: [String: String?] = [:]

  package init(_ groups: [Preference.Group] = Preference.groups) {
    preferences = Dictionary(groups.flatMap(\.preferences).map { ($0.name, $0) }) { first, _ in first }
  }

  /// Whether the settings can be changed now.
  package var canChange: Bool { problem.isEmpty && !settings.isEmpty }

  /// Nil if the agent does not have the setting.
  package func field(_ name: String) -> Field? {
    guard let setting = settings[name], let preference = preferences[name] else { return nil }
    return Field(
      value: entered[name] ?? setting.value, defaultWords: preference.words(setting.defaultValue), isSet: setting.isSet,
      problem: problems[name] ?? "")
  }

  /// Returns the actions, in order.
  package mutating func handle(_ event: Event) -> [Action] {
    switch event {
    case .changed:
      isStale = isAsking
      return isAsking ? [] : ask()
    case .answered(let settings):
      (self.settings, problem) = (settings, "")
      return answered()
    case .unreachable(let problem):
      self.problem = DisplayText(problem, limit: 300).string
      return answered()
    case .edited(let name, let value):
      guard let preference = preferences[name], let setting = settings[name] else { return [.show] }
      guard value != setting.value || problems[name] != nil || underWay.contains(name) else { return [.show] }
      if let warning = preference.warning, warning.value == (value ?? setting.defaultValue),
        setting.value != warning.value
      {
        return [.warn(warning, setting: name)]
      }
      return change(name, value)
    case .confirmed(let name, let value): return change(name, value)
    case .changeEnded(let name, let problem): return ended(name, problem)
    }
  }

  private mutating func change(_ name: String, _ value: String?) -> [Action] {
    entered[name] = value ?? settings[name]?.defaultValue
    problems[name] = nil
    guard !underWay.contains(name) else {
      waiting.updateValue(value, forKey: name)
      return []
    }
    underWay.insert(name)
    return [.change(name, value)]
  }

  private mutating func ended(_ name: String, _ problem: String?) -> [Action] {
    underWay.remove(name)
    if let next = waiting.removeValue(forKey: name) { return change(name, next) }
    problems[name] = problem.map { DisplayText($0, limit: 500, lines: 5).string }
    let value = entered[name]
    if problem == nil || !isEntry(name) { entered[name] = nil }
    guard problem == nil else { return [.show] }
    if let value { settings[name]?.value = value }
    // Whether the file has it now.
    return [.show] + handle(.changed)
  }

  /// Whether the user types the value.
  private func isEntry(_ name: String) -> Bool {
    switch preferences[name]?.control {
    case .number, .text: true
    case .toggle, .choice, nil: false
    }
  }

  private mutating func ask() -> [Action] {
    isAsking = true
    return [.ask]
  }

  private mutating func answered() -> [Action] {
    isAsking = false
    guard isStale else { return [.show] }
    isStale = false
    return [.show] + ask()
  }
}
