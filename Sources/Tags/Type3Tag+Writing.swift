/// Writing (section 6.4.3): the attribute information block says that somebody is writing, then comes the message, then the
/// attribute information block with its length.
extension Type3Tag {
  func write(_ message: [UInt8], over channel: inout some TagChannel) throws(TagWriteError) {
    let (idm, attributes) = try stopping { () throws(Stop) in try open(&channel) }
    guard attributes.isWritable else { throw .readOnly }
    guard message.count <= attributes.capacity else { throw .tooLong(capacity: attributes.capacity) }
    try stopping { () throws(Stop) in
      // The length is zero meanwhile, too, for readers that do not look at WriteF.
      try channel.update(from: 0, attributes.changed(length: 0, isBeingWritten: true), idm)
      let padded = message + [UInt8](repeating: 0, count: (16 - message.count % 16) % 16)
      let most = attributes.mostWritten * 16
      for offset in stride(from: 0, to: padded.count, by: most) {
        try channel.update(from: 1 + offset / 16, Array(padded[offset..<min(offset + most, padded.count)]), idm)
      }
      try channel.update(from: 0, attributes.changed(length: message.count), idm)
    }
  }

  /// Sets RWFlag in the attribute information block to "read-only" (section 6.4.4). Every reader keeps to it that keeps to the
  /// specification; the card itself does not enforce it. What would, the memory configuration of a FeliCa Lite and the keys of
  /// a FeliCa Standard, is no part of the specification and its owner's to change.
  func lock(over channel: inout some TagChannel) throws(TagWriteError) {
    let (idm, attributes) = try stopping { () throws(Stop) in try open(&channel) }
    guard attributes.isWritable else { throw .readOnly }
    try stopping { () throws(Stop) in
      // A message that was half written would be so for ever.
      try attributes.checkIsWhole()
      try channel.update(from: 0, attributes.changed(length: attributes.length, isReadOnly: true), idm)
    }
  }

  private func stopping<Result>(_ body: () throws(Stop) -> Result) throws(TagWriteError) -> Result {
    do throws(Stop) {
      return try body()
    } catch {
      switch error {
      case .problem(let problem): throw .refused(problem)
      case .channel(let error): throw .channel(error)
      }
    }
  }
}
