import Bus

/// Which taps of the inbox to list or to count. A part that is nil holds for every tap.
///
/// An agent of interface version 1 knows only a single state, and ignores the rest.
public struct InboxFilter: Sendable, Hashable {
  /// A text of 1 to 256 bytes in the title, the link, the handler's id or the rule's name, without regard to upper and
  /// lower case.
  public var text: String?
  /// The states, as in `TapDescription`; an empty list holds for no tap.
  public var states: [String]?
  /// The desktop id of the handler, with or without `.desktop`.
  public var handler: String?
  /// The technology of the tag, such as `type-2`.
  public var technology: String?
  /// The object path of the reader at the daemon.
  public var reader: String?

  /// A filter that holds for every tap, apart from the given parts.
  ///
  /// - Parameters:
  ///   - text: a text that the tap has.
  ///   - states: the states.
  ///   - handler: the desktop id of the handler.
  ///   - technology: the technology of the tag.
  ///   - reader: the object path of the reader.
  public init(
    text: String? = nil, states: [String]? = nil, handler: String? = nil, technology: String? = nil,
    reader: String? = nil
  ) {
    self.text = text
    self.states = states
    self.handler = handler
    self.technology = technology
    self.reader = reader
  }

  /// The options of `ListInbox` and `CountInbox`.
  var options: [String: Value] {
    var options: [String: Value] = [:]
    options["text"] = text.map(Value.string)
    // An older agent knows the option for one state.
    if let states, states.count == 1 {
      options["state"] = .string(states[0])
    } else {
      options["states"] = states.map(Value.strings)
    }
    options["handler"] = handler.map(Value.string)
    options["technology"] = technology.map(Value.string)
    options["reader"] = reader.map(Value.string)
    return options
  }
}
