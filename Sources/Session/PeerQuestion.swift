import Bus
import ScanGate

/// What a peer on a bus is asked, and what of that it tells by itself.
struct PeerQuestion: Sendable {
  /// What a signal says.
  enum Change: Sendable {
    /// How it is now.
    case fact(Fact)
    /// That it is different: ask.
    case ask
    /// Nothing of this.
    case nothing
  }

  let name: String
  /// The object, the likeliest first.
  let paths: [ObjectPath]
  let interface: String
  let member: String
  let arguments: [Value]
  /// The signal.
  let rule: MatchRule
  /// What the signal says.
  let changed: @Sendable (ReceivedSignal) -> Change
  /// What the answer says; unknown where it is none that has a meaning.
  let answered: @Sendable ([Value]) -> Fact

  /// A property that is told of by PropertiesChanged ("org.freedesktop.DBus.Properties" in the D-Bus specification).
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
