/// Whether NetworkManager can connect to a Wi-Fi network now.
package enum WiFiAvailability: Sendable, Hashable, CaseIterable {
  /// There is a Wi-Fi device, and it is on.
  case available
  /// NetworkManager does not run, or does not answer.
  case noNetworkManager
  /// NetworkManager has no Wi-Fi device that it may use.
  case noDevice
  /// Wi-Fi is switched off.
  case off
}

extension WiFiAvailability {
  /// The failure of a hand-over; nil if Wi-Fi is available.
  var failure: HandOverFailure? {
    switch self {
    case .available: nil
    case .noNetworkManager: HandOverFailure(.noNetworkManager)
    case .noDevice: HandOverFailure(.noWiFiDevice)
    case .off: HandOverFailure(.wiFiOff)
    }
  }
}
