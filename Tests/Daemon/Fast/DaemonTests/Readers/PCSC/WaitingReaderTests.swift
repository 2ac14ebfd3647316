import Bus
import Names
import ReaderProtocol
import Testing

@testable import Daemon

/// A reader that waits for another program, and one that can read other tags than those of libnfc.
@Suite struct WaitingReaderTests: DaemonStateSuite {
  var state = DaemonState(policy: .init(), isEnabled: true)
  var clock = ManualClock()
  var stopsAtOnce = true

  private var properties: ReaderStatus.Properties? { state.readers[0]?.properties }

  @Test mutating func `the reason is shown in any state, until the wait or the state ends`() {
    begin()
    _ = tell(.reader(0, .waiting(reason: "gpg has the card")))
    #expect(properties?.state == "scanning" && properties?.stateReason == "gpg has the card")
    // The wait does not keep the reader from anything else.
    _ = tell(.enabled(false))
    #expect(properties?.state == "ready" && properties?.stateReason == "gpg has the card")
    _ = tell(.reader(0, .waiting(reason: "")))
    #expect(properties?.stateReason == "")
    _ = tell(.reader(0, .waiting(reason: "x")))
    _ = tell(.reader(0, .phase(.absent(reason: "unplugged"), reached: nil)))
    #expect(properties?.state == "absent" && properties?.stateReason == "unplugged")
    _ = tell(.reader(0, .waiting(reason: "late")))
    #expect(properties?.stateReason == "unplugged")
    _ = tell(.reader(0, .phase(Samples.ready, reached: nil)))
    #expect(properties?.stateReason == "")
  }

  @Test mutating func `each reader looks for what it can read`() {
    begin()
    let path = Samples.reader
    _ = tell(.readerAdded(1, path: path, device: "pcsc:Example NFC 00 00", seat: "seat0"))
    #expect(state.readers[1]?.properties.technologies == TagType.readable)
    var policy = DaemonState.Policy()
    policy.polling.technologies = [.type5]
    let actions = tell(.policy(policy))
    #expect(state.readers[0]?.properties.technologies == [] && state.readers[1]?.properties.technologies == [.type5])
    // A reader that can read none of the wanted tags keeps its field off.
    #expect(actions.map(\.withoutEpoch).contains(.pursue(0, epoch: 0, .off)))
    #expect(!actions.map(\.withoutEpoch).contains(.pursue(0, epoch: 0, .scan(policy.polling))))
  }

  @Test mutating func `a session for Type 5 gets a reader for it`() {
    begin()
    _ = tell(.readerAdded(1, path: Samples.reader, device: "pcsc:Example NFC 00 00", seat: "seat0"))
    _ = tell(.reader(1, .phase(Samples.ready, reached: 0)))
    #expect(state.reader(for: Samples.alice.uid) == 0)
    #expect(state.reader(for: Samples.alice.uid, reading: [.type5, .type2]) == 0)
    #expect(state.reader(for: Samples.alice.uid, reading: [.type5]) == 1)
    let options = ReaderSessionOptions(number: 1, technologies: [.type2, .type5], systemCodes: [3])
    let limited = state.readers[0].map(options.limited(to:))
    #expect(limited == ReaderSessionOptions(number: 1, technologies: [.type2], systemCodes: [3]))
  }

  /// The service refuses a session, and another choice of its tags, if `canRead` is false.
  @Test mutating func `a reader of pcscd refuses a session for Type 5 if its model cannot read it`() {
    begin()
    let acr1252 = PCSCReader.Identity(vendor: 0x072F, product: 0x223B)
    _ = tell(.readerAdded(1, path: Samples.reader, device: "pcsc:\(PCSCSamples.picc)", seat: "seat0"))
    _ = tell(.readerAdded(2, path: Samples.reader, device: "pcsc:Example 00 00", seat: "seat0", identity: acr1252))
    _ = tell(.readerAdded(3, path: Samples.reader, device: "pcsc:Example 01 00", seat: "seat0"))
    let type5 = (0...3).map { state.readers[$0]?.canRead(some: [.type5]) }
    #expect(type5 == [false, false, false, true])
    let others = (0...3).map { state.readers[$0]?.canRead(some: [.type5, .type2]) }
    #expect(others == [true, true, true, true])
    #expect(state.readers[2]?.technologies(among: TagType.readable).contains(.type5) == false)
    #expect(state.readers[2]?.properties.technologies.contains(.type5) == false)
  }

  @Test func `the refusal names the tags, and Type 5 alone needs an explanation`() {
    #expect(BusError.cannotRead([.type1]).message == "the reader cannot read type-1")
    #expect(
      BusError.cannotRead([.type1, .type5]).message.hasPrefix("the reader cannot read type-1, type-5. Only some"))
  }
}
