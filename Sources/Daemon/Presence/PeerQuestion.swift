import Bus

/// A question to a peer on a bus, and the signal with which the peer reports changes.
struct PeerQuestion: Sendable {
  /// The meaning of a signal.
  enum Change: Sendable {
    /// The new fact.
    case fact(Fact)
    /// The fact has changed, and has to be asked for.
    case ask
    /// The signal is unrelated.
    case nothing
  }

  let name: String
  /// The object paths to try, the most likely first.
  let paths: [ObjectPath]
  let interface: String
  let member: String
  let arguments: [Value]
  let rule: MatchRule
  /// The meaning of a signal.
  let changed: @Sendable (ReceivedSignal) -> Change
  /// The meaning of a reply; unknown if it has none.
  let answered: @Sendable ([Value]) -> Fact

  /// A property with changes in PropertiesChanged ("org.freedesktop.DBus.Properties" in the D-Bus specification).
  static func property(
    _ property: String, of name: String, at path: ObjectPath, meaning: @escaping @Sendable (Value?) -> Fact
  ) -> PeerQuestion {
    let properties = "org.freedesktop.DBus.Properties"
    return PeerQuestion(
      name: name, paths: [path], interface: properties, member: "Get", arguments: [.string(name), .string(property)],
      rule: MatchRule(sender: name, path: path, interface: properties, member: "PropertiesChanged", arg0: name),
      changed: { signal in
        if let value = signal.arguments.dropFirst().first?.asDictionary?[property] { return .fact(meaning(value)) }
        let isInvalid = signal.arguments.dropFirst(2).first?.asStrings?.contains(property) == true
        return isInvalid ? .ask : .nothing
      },
      answered: { meaning($0.first?.unwrapped) })
  }
}
