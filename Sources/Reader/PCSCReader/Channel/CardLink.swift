import ReaderModels
import Tags

/// What a connection to a card and the model of its reader can do together: pseudo-APDUs, and the state that they leave
/// in the reader.
struct CardLink<Connection: CardConnection> {
  private(set) var connection: Connection
  let model: ReaderModel
  /// Whether the reader takes APDUs with extended lengths. It reports this as dwMaxAPDUDataSize (PC/SC part 10, 2.6.14).
  let takesExtendedAPDUs: Bool
  /// Why the last transmission failed; nil if it succeeded.
  private(set) var failure: CardFailure?
  /// The identifier that the reader reported for the card. It may be that of another system of a FeliCa card than the
  /// activation's.
  var identifier: [UInt8] = []

  /// The keys that are loaded into the reader, by their place.
  var loadedKeys: [UInt8: [UInt8]] = [:]
  /// How many keys were loaded: the next one takes the other place.
  var nextKeySlot = 0
  var transparentSession = TransparentSession.closed
  /// The way to a FeliCa card that worked.
  var confirmedFeliCa: ReaderModel.FeliCaAccess?
  /// Whether the NDEF system of a FeliCa card answers, on a reader that cannot poll.
  var hasNDEFSystem = false
  /// The service that a SpringCard reader uses for the next commands.
  var feliCaService: [UInt8]?
  /// How FF B0 reads one block of a Type 5 tag, after a read has succeeded.
  var type5Block: Type5Block?
  /// Whether the reader passes on requests of ISO/IEC 15693; nil before the first one.
  var passesRequestsOn: Bool?

  init(_ connection: Connection, model: ReaderModel, takesExtendedAPDUs: Bool = false) {
    self.connection = connection
    self.model = model
    self.takesExtendedAPDUs = takesExtendedAPDUs
  }

  /// Sends an APDU unchanged.
  mutating func transmit(_ command: [UInt8]) throws(TagChannelError) -> CardAnswer {
    let bytes: [UInt8]
    do throws(CardFailure) {
      bytes = try connection.transmit(command)
    } catch {
      failure = error
      throw error.channelError
    }
    failure = nil
    guard let answer = CardAnswer(bytes) else {
      throw TagChannelError(.transmission, "the reader gave an answer of \(bytes.count) bytes, which is none")
    }
    return answer
  }

  /// Sends a pseudo-APDU. If the reader asks for another length, sends the command again with it. If it holds the answer
  /// back, as with the protocol T=0, fetches it. That makes three transmissions at most.
  mutating func ask(_ command: PseudoAPDU) throws(TagChannelError) -> CardAnswer {
    var answer = try transmit(command.bytes)
    if let length = answer.status.rightLength, command.expected != nil {
      var corrected = command
      corrected.expected = length
      answer = try transmit(corrected.bytes)
    }
    guard let remaining = answer.status.remaining else { return answer }
    let rest = try transmit(PseudoAPDU(0xC0, expected: UInt8(truncatingIfNeeded: remaining)).bytes)
    return CardAnswer(data: answer.data + rest.data, status: rest.status)
  }

  /// Sends a pseudo-APDU, and fails if it does not succeed. Returns the data.
  @discardableResult
  mutating func fetch(_ command: PseudoAPDU) throws(TagChannelError) -> [UInt8] {
    let answer = try ask(command)
    guard answer.status.isSuccess || answer.status == .endOfData && !answer.data.isEmpty else {
      throw answer.status.error
    }
    return answer.data
  }

  /// Takes the card's power and restores it.
  mutating func reset() throws(TagChannelError) {
    endSession()
    (loadedKeys, nextKeySlot, feliCaService) = ([:], 0, nil)
    do throws(CardFailure) {
      try connection.reset()
    } catch {
      failure = error
      throw error.channelError
    }
    failure = nil
  }

  /// Ends a transparent session, so that the reader looks for cards again. It keeps `failure`.
  mutating func endSession() {
    guard case .open = transparentSession else { return }
    transparentSession = .closed
    let before = failure
    guard before?.endsConnection != true else { return }
    _ = try? transmit(TransparentSession.end.bytes)
    failure = before
  }
}

extension CardFailure {
  /// Whether no later exchange over the connection can succeed as if nothing had happened.
  var endsConnection: Bool { if case .exchange = self { false } else { true } }

  /// The same failure of a channel to a tag.
  var channelError: TagChannelError {
    switch self {
    case .removed: TagChannelError(.noAnswer, "the tag was removed")
    case .reset: TagChannelError(.transmission, "another program has reset the card")
    case .exchange(let reason): TagChannelError(.noAnswer, reason)
    case .readerGone(let reason): TagChannelError(.readerGone, reason)
    case .aborted: TagChannelError(.aborted, "the exchange was aborted")
    }
  }
}
