/// The field in front of the antenna and the tags that lie in it.
struct RadioField {
  /// What came back on a frame.
  enum Answer: Equatable {
    case silence
    case frame(RadioFrame)
    /// Several tags answered, and not the same.
    case collision([RadioFrame])
  }

  private(set) var isOn = false
  private var onSince: Duration = .zero
  private var offSince: Duration = .zero
  private var placed: [(id: TagID, tag: any FieldTag, since: Duration)] = []

  /// The tags that lie on the reader, in the order in which they were put there.
  var tags: [TagID] { placed.map(\.id) }

  /// Off means that every tag starts anew at the next on, unless that comes sooner than a tag loses its power.
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

  /// - Returns: the tag with what it now holds, nil where it is not there.
  @discardableResult
  mutating func remove(_ id: TagID) -> (any FieldTag)? {
    guard let index = placed.firstIndex(where: { $0.id == id }) else { return nil }
    var tag = placed.remove(at: index).tag
    tag.writeTear = nil
    tag.losePower()
    return tag
  }

  /// What the tags write from now on gets no further than this.
  mutating func tearWrites(_ tear: WriteTear) {
    for index in placed.indices { placed[index].tag.writeTear = tear }
  }

  func memory(of id: TagID) -> [UInt8]? {
    placed.first { $0.id == id }?.tag.memory
  }

  /// Puts a frame on the air.
  ///
  /// - Parameters:
  ///   - frame: what the reader sends.
  ///   - start: tags whose power came later than that do not listen yet.
  /// - Returns: what comes back.
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
