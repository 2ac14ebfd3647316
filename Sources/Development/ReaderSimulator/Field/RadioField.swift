/// The field in front of the antenna and the tags in it.
struct RadioField {
  enum Answer: Equatable {
    case silence
    case frame(RadioFrame)
    /// Several tags sent different answers.
    case collision([RadioFrame])
  }

  private(set) var isOn = false
  private var onSince: Duration = .zero
  private var offSince: Duration = .zero
  private var placed: [(id: TagID, tag: any FieldTag, since: Duration)] = []

  /// The tags on the reader, in the order of their placement.
  var tags: [TagID] { placed.map(\.id) }

  /// Switches the field. When it comes on again, all tags restart, unless it was off for less than `keptPower`.
  mutating func set(on: Bool, at now: Duration, keptPower: Duration = .zero) {
    if isOn && !on { offSince = now }
    if on && !isOn {
      onSince = now
      if now - offSince >= keptPower {
        for index in placed.indices { placed[index].tag.losePower() }
      }
    }
    isOn = on
  }

  mutating func place(_ tag: any FieldTag, as id: TagID, at now: Duration) {
    placed.append((id, tag, now))
  }

  /// Returns the tag with its current contents; nil if it is not on the reader.
  @discardableResult
  mutating func remove(_ id: TagID) -> (any FieldTag)? {
    guard let index = placed.firstIndex(where: { $0.id == id }) else { return nil }
    var tag = placed.remove(at: index).tag
    tag.tearWrites(nil)
    tag.losePower()
    return tag
  }

  /// Makes the further writes of all tags end early.
  mutating func tearWrites(_ tear: WriteTear) {
    for index in placed.indices { placed[index].tag.tearWrites(tear) }
  }

  func memory(of id: TagID) -> [UInt8]? {
    placed.first { $0.id == id }?.tag.memory
  }

  /// Puts a frame on the air. Tags that got power after `start` do not listen yet.
  mutating func transceive(_ frame: RadioFrame, poweredBefore start: Duration) -> Answer {
    guard isOn, onSince <= start else { return .silence }
    var answers: [RadioFrame] = []
    for index in placed.indices where placed[index].since <= start {
      if let answer = placed[index].tag.receive(frame) { answers.append(answer) }
    }
    guard let first = answers.first else { return .silence }
    return answers.allSatisfy { $0 == first } ? .frame(first) : .collision(answers)
  }
}
