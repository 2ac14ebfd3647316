/// A virtual reader: a device that can be unplugged.
public struct CardReaderID: Hashable, Sendable, CustomStringConvertible {
  let number: Int

  /// The number of the reader, from 0.
  public var description: String { "\(number)" }
}

/// One slot of a virtual reader. pcscd lists each slot as a reader.
public struct CardSlotID: Hashable, Sendable, CustomStringConvertible {
  let number: Int

  /// The number of the slot among those of all readers, from 0.
  public var description: String { "\(number)" }
}

/// A virtual reader and its slots, in the order of its model.
public struct AttachedCardReader: Hashable, Sendable {
  /// The reader.
  public let id: CardReaderID
  /// The reader's model.
  public let model: CardReaderModel
  /// All slots.
  public let slots: [CardSlotID]
  /// The first slot, which is the contactless one if the model has one.
  public let slot: CardSlotID
}
