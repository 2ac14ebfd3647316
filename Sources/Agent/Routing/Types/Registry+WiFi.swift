import NDEF

extension Registry {
  /// Decides about a record with Wi-Fi networks that no handler takes. It never becomes a file: the password is in it.
  ///
  /// Neither the reason nor a step has the name of the network. The reason goes to the log.
  func route(
    forWiFi record: TypedRecord, in message: NDEFMessage, _ reason: String, _ steps: Explanation
  ) -> Route {
    var steps = steps
    let network: WiFiNetwork?
    do throws(NDEFError) {
      network = try record.network(in: message)
    } catch {
      let finding = "the Wi-Fi settings of record \(record.number) cannot be decoded: \(error.description)"
      steps.add("wifi", finding)
      return .none(nil, "\(reason), and \(finding)", steps)
    }
    guard let offer = network.map(WiFiOffer.init) else {
      return .none(nil, "\(reason), and record \(record.number) has no Wi-Fi network", steps)
    }
    if let obstacle = offer.obstacle {
      let finding = "the first Wi-Fi network of record \(record.number) cannot be used: \(obstacle.finding)"
      steps.add("wifi", finding)
      var route = Route.none(nil, "\(reason), and \(finding)", steps)
      route.network = offer
      return route
    }
    steps.add("wifi", "the first Wi-Fi network of the record \(offer.isOpen ? "is open" : "has a password")")
    return Route(
      kind: .wifi, uri: nil, handler: nil, candidates: [], claimants: steps.losers,
      claimantsLeftOut: steps.leftOut, trusted: true,
      reason: "no handler takes the type; NetworkManager connects to the network if the user agrees",
      steps: steps.steps, network: offer)
  }
}

extension WiFiOffer.Obstacle {
  /// A part of a sentence, in English.
  fileprivate var finding: String {
    switch self {
    case .enterprise: "each of its users needs a name and a password of their own"
    case .wep: "it uses WEP, which is not secure"
    case .unknownAuthentication: "its authentication is unknown"
    case .unknownEncryption: "its encryption is unknown"
    case .password: "its password does not suit its authentication"
    }
  }
}
