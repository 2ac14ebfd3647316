import LibNFCReader
import ReaderModels
import Tags

@testable import PCSCReader
@testable import ReaderSimulator

/// A card in the contactless slot of a simulated PC/SC reader, without pcscd.
///
///     var channel = try SlotConnection.channel(to: try .type2(.ntag215, message: message), on: .acr122U)
///     let content = try channel.tag.readNDEF(over: &channel)
struct SlotConnection: CardConnection {
  struct NoTag: Error {}

  private var interface: ContactlessInterface

  private init(_ tag: SimulatedTag, _ model: CardReaderModel) throws {
    interface = ContactlessInterface(model: model)
    guard interface.place(.contactless(tag.tag), as: TagID(number: 1)) else { throw NoTag() }
  }

  /// Identifies a storage card of Type A, as the reader program does.
  static func channel(to tag: SimulatedTag, on model: CardReaderModel) throws -> CardChannel<SlotConnection> {
    let known = ReaderModel.find(vendor: model.vendor, product: model.product) ?? .generic
    var link = CardLink(try SlotConnection(tag, model), model: known)
    guard case .tag(let tag) = try link.identify(.storage(StorageCard(standard: .typeA, name: 0x0003))) else {
      throw NoTag()
    }
    return CardChannel(link, tag: tag)
  }

  /// The whole memory of the card.
  var memory: [UInt8] { interface.memory ?? [] }

  mutating func transmit(_ command: [UInt8]) throws(CardFailure) -> [UInt8] {
    let answer = interface.transmit(command)
    guard answer.response == .success else { throw .exchange("the card does not answer") }
    return answer.data
  }

  mutating func reset() throws(CardFailure) {
    interface.powerDown()
    guard interface.powerUp() != nil else { throw .removed }
  }
}
