/// A virtual reader: a device that can be unplugged.
package struct CardReaderID: Hashable, Sendable, CustomStringConvertible {
  let number: Int

  /// The number of the reader, from 0.
  package var description: String { "\(number)" }
}

/// One slot of a virtual reader. pcscd lists each slot as a reader.
package struct CardSlotID: Hashable, Sendable, CustomStringConvertible {
  let number: Int

  /// The number of the slot among those of all readers, from 0.
  package var description: String { "\(number)" }
}

/// A virtual reader and its slots, in the order of its model.
package struct AttachedCardReader: Hashable, Sendable {
  /// The reader.
  package let id: CardReaderID
  /// The reader's model.
  package let model: CardReaderModel
  /// All slots.
  package let slots: [CardSlotID]
  /// The first slot, which is the contactless one if the model has one.
  package let slot: CardSlotID
}
