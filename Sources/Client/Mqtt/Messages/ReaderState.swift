import TagrouteClient

/// What is published about a reader.
struct ReaderState: Sendable, Hashable {
  /// The last component of its object path.
  let name: String
  /// The JSON for its topic.
  let payload: [UInt8]

  init(name: String, payload: [UInt8]) { (self.name, self.payload) = (name, payload) }

  /// A reader that is absent or failed has its own reason. One that could scan has the daemon's reasons.
  init(_ reader: ReaderStatus, of daemon: DaemonStatus) {
    name = Self.name(ofPath: reader.path)
    let reasons: [String] =
      switch reader.state {
      case "absent", "failed": reader.stateReason.isEmpty ? [] : [reader.stateReason]
      case "ready": daemon.suspendReasons
      default: []
      }
    payload =
      JSONValue.record([
        "state": .string(reader.state), "reasons": .array(reasons.map(JSONValue.string)), "name": .string(reader.name),
      ]).bytes
  }

  /// The last component of an object path; empty if it cannot be a level of a topic.
  static func name(ofPath path: String) -> String {
    let name = path.split(separator: "/").last ?? ""
    let isName =
      name.utf8.count <= 64
      && name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
          true
        default: false
        }
      }
    return isName ? String(name) : ""
  }
}
