import Handlers
import Notifications
import Routing

/// The question about a Wi-Fi network. The password is in no text.
extension TapOffer {
  /// The network's name, without marks that could end its quotation.
  static func networkName(_ network: WiFiOffer) -> DisplayText {
    // A name has at most 32 bytes, and four characters stand for each that is not shown.
    DisplayText(withoutQuotationMarks(network.name), limit: 128)
  }

  /// Asks whether to connect. If that is not possible, says why.
  ///
  /// Only a button saves the network. A click on the notification connects and saves nothing.
  func notification(of network: WiFiOffer, timeout: Int32, canCopy: Bool) -> Notification {
    let name = TapOffer.networkName(network)
    guard connects else {
      return notification(
        title: Messages.network(name), body: DisplayText(cannotConnect),
        buttons: canCopy ? [NotificationButton(key: ButtonKey.copy, label: Messages.copy)] : [], timeout: timeout)
    }
    return notification(
      title: Messages.mayConnect(to: name),
      body: DisplayText(network.isOpen ? Messages.networkIsOpen : Messages.networkHasPassword),
      buttons: [
        NotificationButton(key: ButtonKey.open, label: Messages.connect),
        NotificationButton(key: ButtonKey.save, label: Messages.connectAndSave),
      ], timeout: timeout)
  }

  /// Why there is no connection to the network; empty if there may be one.
  var cannotConnect: String {
    guard let network else { return "" }
    return network.obstacle.map(Messages.whyUnusable) ?? Messages.whyNoWiFi(wiFi)
  }
}

extension HandOverFailure {
  /// Whether a text was to be copied.
  var isAboutClipboard: Bool { code == .noClipboard || code == .notCopied }
}
