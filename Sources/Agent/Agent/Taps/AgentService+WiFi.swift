import Handlers
import Inbox
import NDEF
import Routing

/// Wi-Fi networks of tags.
extension AgentService {
  func setNetworkManager(_ networkManager: NetworkManager) async {
    self.networkManager = networkManager
    // An earlier tap may say that there is none.
    for id in policy.onScreenInOrder where policy.offer(id)?.network != nil { await decideAgain(id) }
  }

  /// Joins the network of a tap. The password is read from the stored message only now.
  func connect(_ offer: TapOffer) async throws(InboxError) -> HandOverOutcome {
    guard let networkManager else { return .failed(HandOverFailure(.noNetworkManager)) }
    let bytes = try await inbox.tap(offer.id).tap.message
    guard let message = try? NDEFMessage(decoding: bytes),
      let network = try? offer.record?.network(in: message), WiFiOffer(network) == offer.network
    else { return .failed(HandOverFailure(.networkUnusable)) }
    return await networkManager.join(network, saving: offer.manner == .savingNetwork)
  }
}
