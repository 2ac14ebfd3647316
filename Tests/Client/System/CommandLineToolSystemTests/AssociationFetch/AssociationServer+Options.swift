import CommandLineTool
import TestKit

extension AssociationServer {
  /// Options to ask this server, with enough time for any machine.
  func options() -> AssociationFetcher.Options {
    var options = AssociationFetcher.Options()
    options.authorities = authority
    options.server = address
    options.allowsPrivateAddresses = true
    options.connectLimit = .seconds(120)
    options.totalLimit = .seconds(120)
    return options
  }
}
