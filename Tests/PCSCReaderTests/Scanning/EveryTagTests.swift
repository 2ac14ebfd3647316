import Framing
import Names
import ReaderLink
import Rig
import TestSupport
import Testing

@testable import ReaderSimulator

/// Each kind of tag on each model of reader. The models of the simulation and those of the process come from different
/// tables, which have to agree.
@Suite(.timeLimit(.minutes(5)), StopsAtEnd()) struct EveryTagTests {
  @Test(arguments: CardReaderModel.contactless)
  func `a reader announces each kind of tag once, or says why it cannot read it`(model: CardReaderModel) async throws {
    let rig = try await CardReaderRig.scanning(model)
    var found = 0
    for kind in TagKind.allCases {
      let bytes = try uri("https://example.com/\(kind)")
      let id = try await rig.insert(try kind.make(bytes))
      guard kind.isFound(by: model) else {
        #expect(await rig.powerUps(id) == 0, "\(kind)")
        await rig.remove(id)
        continue
      }
      found += 1
      let report = try await rig.tag()
      #expect(report.placement.technology == kind.type, "\(kind)")
      if kind.isReadable(on: model) {
        #expect(report.content == .message(bytes), "\(kind)")
      } else {
        #expect(report.problem?.hasPrefix("unsupported: ") == true, "\(kind): \(report)")
      }
      try await rig.takeAway(id, report.placement)
    }
    #expect(rig.announced.count == found)
    #expect(!rig.seen.contains { $0.isCrash })
  }

  /// The tables agree on the models that the simulation has.
  @Test(arguments: CardReaderModel.contactless)
  func `the process knows each simulated model by its numbers and by its name`(model: CardReaderModel) async throws {
    let readers = try await SimulatedCardReaders.start(socket: try TemporaryDirectory().file("readers"))
    let reader = await readers.addReader(model)
    let name = await readers.name(of: reader.slot)
    let byNumbers = try #require(ReaderModel.find(vendor: model.vendor, product: model.product))
    #expect(ReaderModel.find(readerName: name) == byNumbers)
    #expect(ReaderModel.isContactlessName(name))
    for slot in reader.slots.dropFirst() {
      let other = await readers.name(of: slot)
      #expect(!ReaderModel.isContactlessName(other), "\(other)")
    }
    await readers.stop()
  }

  @Test(arguments: [CardReaderModel.acr122U, .acr1252U, .omnikey5022, .uTrust3700])
  func `a payment card gets two SELECTs of an NDEF application`(model: CardReaderModel) async throws {
    let rig = try await CardReaderRig.scanning(model)
    for card in [SimulatedTag.paymentCard(), .paymentCardB()] {
      let id = try await rig.insert(card)
      let report = try await rig.tag()
      #expect(report.problem?.hasPrefix("not NDEF: ") == true, "\(report)")
      let selects = await rig.commands(id).filter { $0.first != 0xFF }
      let names = try ["D2760000850101", "D2760000850100"].map { try hex("00A4040007" + $0 + "00") }
      #expect(selects == names)
      #expect(await rig.powerUps(id) == 1)
      try await rig.takeAway(id, report.placement)
    }
  }

  @Test(arguments: [CardReaderModel.acr122U, .acr1252U, .acr1552U, .uTrust3700, .rcS300])
  func `a FeliCa card without NDEF is named as such`(model: CardReaderModel) async throws {
    let rig = try await CardReaderRig.scanning(model)
    try await rig.insert(try .transitCard())
    let report = try await rig.tag()
    #expect(report.placement.technology == .type3)
    #expect(report.problem?.hasPrefix("not NDEF: the FeliCa card has no NDEF system") == true, "\(report)")
  }

  @Test(arguments: [CardReaderModel.acr122U, .acr1252U, .acr1552U, .rcS300])
  func `the NDEF system of a FeliCa card is found behind another one`(model: CardReaderModel) async throws {
    let rig = try await CardReaderRig.scanning(model)
    let bytes = try uri("https://example.com/")
    try await rig.insert(try .type3(message: bytes, options: Type3Options(.standardWithSeveralSystems)))
    #expect(try await rig.message().message == bytes)
  }

  /// A reader whose name has no numbers in the configuration is found, too.
  @Test func `the process finds its reader without the numbers in its name`() async throws {
    let device = "ACS ACR1252 Dual Reader [ACR1252 Dual Reader PICC]"
    let rig = try await CardReaderRig(device: device)
    let (name, found) = try await rig.next("a ready reader") { event -> (String, String)? in
      guard case .phase(.ready(let name, let device), _) = event else { return nil }
      return (name, device)
    }
    #expect(name == device)
    #expect(found == Names.PCSC.devicePrefix + rig.name)
    try await rig.scan(true)
    try await rig.announces("https://example.com/")
  }

  @Test func `a technology that is not configured is ignored`() async throws {
    let rig = try await CardReaderRig(technologies: [.type3])
    try await rig.scan(true)
    let id = try await rig.awaken {
      try await rig.insert(try .type2(.ntag213, message: try uri("https://example.com/2")))
    }
    #expect(await rig.commands(id).isEmpty)
    await rig.remove(id)
    let bytes = try uri("https://example.com/3")
    try await rig.insert(try .type3(message: bytes))
    #expect(try await rig.message().message == bytes)
    #expect(rig.announced.count == 1)
  }
}
