public import Bus

/// A setting of the agent, a key of `agent.conf`.
public struct SettingDescription: BusRecord, Sendable, Hashable {
  /// The value in force, as the file would have it. `;` separates the parts of a list.
  public var value = ""
  /// The default, in the same form.
  public var defaultValue = ""
  /// Whether the file has the key now; false if the file cannot be read.
  public var isSet = false

  package init() {}

  package static let fields: [BusField<Self>] = [
    .text("value", \.value), .text("default", \.defaultValue), .flag("set", \.isSet),
  ]
}

extension AgentClient {
  /// Gets the settings of the agent.
  ///
  /// - Returns: the settings by group and key, such as `Notifications.Timeout`.
  /// - Throws: `BusError`; `org.freedesktop.DBus.Error.UnknownMethod` if the agent is older.
  public func settings() async throws(BusError) -> [String: SettingDescription] {
    let reply = try await call("GetSettings").first?.asDictionary ?? [:]
    return reply.compactMapValues { $0.asDictionary.map(SettingDescription.init) }
  }

  /// Changes settings in the user's `agent.conf`, all of them or none, and applies them. The other lines of the file
  /// stay.
  ///
  /// - Parameter changes: new values by group and key, each as the file would have it; nil for the default.
  /// - Throws: `BusError`; `org.tagroute.Error.InvalidArgument` names a setting that cannot have its value, and what is
  ///   possible. `org.tagroute.Error.InvalidConfiguration` names the line of another mistake in the file.
  public func changeSettings(_ changes: [String: String?]) async throws(BusError) {
    let values = changes.compactMapValues(\.self).sorted { $0.key < $1.key }
    let defaults = changes.filter { $0.value == nil }.keys.sorted()
    let entries = values.map { DictionaryEntry(.string($0.key), .string($0.value)) }
    _ = try await call("ChangeSettings", [.dictionary(key: "s", value: "s", entries), .strings(defaults)])
  }
}
