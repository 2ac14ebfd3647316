/// What can be done with the NDEF message of one kind of tag; one conformance each.
protocol NDEFTag {
  /// Reads what is written as the message, whatever it is, in as few exchanges as the specification allows. Nothing is
  /// written.
  func readBytes(over channel: inout some TagChannel) throws(TagChannelError) -> Result<[UInt8], TagProblem>

  /// Finds out whether the tag is formatted, whether it can be written, and how much goes on it. Nothing is written.
  func status(over channel: inout some TagChannel) throws(TagChannelError) -> NDEFStatus

  /// Writes a message so that a tag torn away half-way holds no message rather than a half one.
  func write(_ message: [UInt8], over channel: inout some TagChannel) throws(TagWriteError)

  /// Makes the tag read-only for ever.
  func lock(over channel: inout some TagChannel) throws(TagWriteError)
}

extension NDEFTag {
  /// Reads the message.
  func read(over channel: inout some TagChannel) throws(TagChannelError) -> TagContent {
    switch try readBytes(over: &channel) {
    case .success(let bytes): .written(bytes)
    case .failure(let problem): .problem(problem)
    }
  }
}

extension TagActivation {
  /// Reads the NDEF message of the selected tag in as few exchanges as its specification allows. Nothing is written.
  ///
  /// - Parameter channel: the way to the tag.
  /// - Returns: the message, or why there is none.
  /// - Throws: `TagChannelError` where an exchange fails; whether the tag is away or should be tried again, only the caller
  ///   can find out.
  public func readNDEF(over channel: inout some TagChannel) throws(TagChannelError) -> TagContent {
    switch ndefTag {
    case .success(let tag):
      var limited = LimitedChannel(channel, most: type.mostExchangesToRead)
      defer { channel = limited.channel }
      return try tag.read(over: &limited)
    case .failure(let problem): return .problem(problem)
    }
  }

  /// Finds out whether the selected tag is formatted for NDEF, whether it can be written and how much goes on it.
  ///
  /// - Parameter channel: the way to the tag.
  /// - Returns: the status.
  /// - Throws: `TagChannelError` where an exchange fails.
  public func queryNDEF(over channel: inout some TagChannel) throws(TagChannelError) -> NDEFStatus {
    switch ndefTag {
    case .success(let tag):
      var limited = LimitedChannel(channel, most: type.mostExchanges(reading: 0))
      defer { channel = limited.channel }
      return try tag.status(over: &limited)
    case .failure(let problem): return NDEFStatus(notSupported: problem)
    }
  }

  /// Writes an NDEF message: first the tag says that it holds none, then comes the message, then its length. A tag
  /// torn away half-way is empty.
  ///
  /// - Parameters:
  ///   - message: an encoded NDEF message; empty takes what is there away.
  ///   - isVerifying: whether it is read back and compared.
  ///   - channel: the way to the tag.
  /// - Throws: `TagWriteError`.
  public func writeNDEF(
    _ message: [UInt8], isVerifying: Bool = false, over channel: inout some TagChannel
  ) throws(TagWriteError) {
    let tag = try writable
    var limited = LimitedChannel(channel, most: type.mostExchanges(writing: message.count))
    defer { channel = limited.channel }
    try tag.write(message, over: &limited)
    guard isVerifying else { return }
    let bytes = try TagWriteError.onChannel { () throws(TagChannelError) in try tag.readBytes(over: &limited) }
    guard bytes == .success(message) else { throw .notAsWritten }
  }

  /// Makes the tag read-only. **This is permanent**: nothing takes it back.
  ///
  /// Types 1 and 2, MIFARE Classic and FeliCa Lite enforce it themselves. On FeliCa Standard and on Type 4 it is a flag that
  /// says so: readers that keep to the specification do not write such a card, and only some cards of Type 4 refuse it.
  ///
  /// A tag that holds something damaged is refused, so that what was written by half does not stay so for ever. One that
  /// holds nothing is locked.
  ///
  /// - Parameter channel: the way to the tag.
  /// - Throws: `TagWriteError`.
  public func lockNDEF(over channel: inout some TagChannel) throws(TagWriteError) {
    let tag = try writable
    var limited = LimitedChannel(channel, most: type.mostExchangesToRead)
    defer { channel = limited.channel }
    let content = try TagWriteError.onChannel { () throws(TagChannelError) in try tag.read(over: &limited) }
    if case .problem(let problem) = content, problem.code != .empty { throw .refused(problem) }
    try tag.lock(over: &limited)
  }

  private var writable: any NDEFTag {
    get throws(TagWriteError) {
      switch ndefTag {
      case .success(let tag): return tag
      case .failure(let problem): throw .refused(problem)
      }
    }
  }

  /// Which kind of tag it is read as, or why it cannot be.
  private var ndefTag: Result<any NDEFTag, TagProblem> {
    switch self {
    case .typeA(let tag):
      switch tag.type {
      case .type4A: .success(Type4Tag())
      case .mifareClassic: .success(MIFAREClassicTag(uid: tag.uid, sak: tag.sak))
      case .peer: .failure(TagProblem(.unsupported, "it is another NFC device, not a tag"))
      default: .success(Type2Tag(uid: tag.uid))
      }
    case .typeB: .success(Type4Tag())
    case .felica(let tag): .success(Type3Tag(tag))
    case .jewel(let tag): .success(Type1Tag(tag))
    }
  }
}
