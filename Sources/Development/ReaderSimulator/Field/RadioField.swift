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
      if now - offSince >= keptPower { for index in placed.indices { placed[index].tag.losePower() } }
    }
    isOn = on
  }

  mutating func place(_ tag: any FieldTag, as id: TagID, at now: Duration) { placed.append((id, tag, now)) }

  /// Returns the tag with its current contents; nil if it is not on the reader.
  @discardableResult mutating func remove(_ id: TagID) -> (any FieldTag)? {
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

  func memory(of id: TagID) -> [UInt8]? { placed.first { $0.id == id }?.tag.memory }

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

/// A tag that draws its power from the reader's field and answers frames.
///
/// Each technology has its own conforming types, which recognise their frames by the modulation.
protocol FieldTag: Sendable {
  /// The field is off: the tag forgets everything outside its permanent memory.
  mutating func losePower()

  /// The answer to a frame on the air; nil for silence. Every tag in the field receives every frame.
  mutating func receive(_ frame: RadioFrame) -> RadioFrame?

  /// The permanent memory as a reader would dump it.
  var memory: [UInt8] { get }

  /// Sets how far further writes get before the tag loses its power; nil if they complete.
  mutating func tearWrites(_ tear: WriteTear?)
}

/// How far a write gets before the memory loses its power.
package struct WriteTear: Sendable, Hashable {
  /// The contents of the bytes that were not programmed.
  package enum Remainder: Sendable, Hashable, CaseIterable {
    case old
    /// The value of an erased cell, 00, in a memory that erases a unit (a page, a block) before it programs it.
    case zeros
    /// The value of an erased cell in a memory with erased cells of FF.
    case ones
  }

  /// How many bytes of the write are programmed, from the first on.
  package let bytes: Int
  /// The contents of the other bytes.
  package let remainder: Remainder

  package init(bytes: Int, remainder: Remainder = .old) {
    self.bytes = bytes
    self.remainder = remainder
  }
}

/// The effect of a lost power supply on a write.
extension WriteTear? {
  /// The contents after the write. `old` has the same length as `new`. If `erasing`, the memory may erase before it
  /// programs; bits that can only be set are not erased.
  func contents(_ new: [UInt8], over old: [UInt8], erasing: Bool = true) -> [UInt8] {
    guard let tear = self else { return new }
    let rest = old.dropFirst(tear.bytes)
    switch tear.remainder {
    case .zeros where erasing: return new.prefix(tear.bytes) + rest.map { _ in UInt8(0x00) }
    case .ones where erasing: return new.prefix(tear.bytes) + rest.map { _ in UInt8(0xFF) }
    default: return Array(new.prefix(tear.bytes) + rest)
    }
  }
}
