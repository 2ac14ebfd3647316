/// What the broker's clients may ask of a station.
enum StationCommand: Sendable, Hashable {
  /// Keep scanning off, or no longer.
  case scan(isOn: Bool)
  /// Show which machine this is.
  case identify

  /// The last level of the topic.
  enum Name: String, CaseIterable {
    case scan
    case identify
  }

  /// In bytes. The longest valid payload has three.
  private static let maximumPayload = 16

  /// Nil for any other topic, and for a payload that is unknown or too long. A retained message is no command: it would
  /// be carried out again at each connection.
  init?(topic: String, payload: [UInt8], isRetained: Bool, _ topics: Topics) {
    guard !isRetained, payload.count <= Self.maximumPayload,
      let name = Name.allCases.first(where: { topics.command($0) == topic })
    else { return nil }
    switch (name, String(decoding: payload, as: UTF8.self)) {
    case (.identify, _): self = .identify
    case (.scan, "on"): self = .scan(isOn: true)
    case (.scan, "off"): self = .scan(isOn: false)
    case (.scan, _): return nil
    }
  }
}
