import Routing
import Testing
import UniversalLinks

func application(_ id: String, origin: Application.Origin = .system) -> Application {
  let directory = origin == .system ? "/usr/share" : "/home/somebody/.local/share"
  return Application(
    desktopID: "\(id).desktop", name: id, file: "\(directory)/applications/\(id).desktop", origin: origin)
}

func handler(
  _ id: String, _ domains: [String] = [], schemes: [String] = [], origin: Application.Origin = .system
) throws -> HandlerDeclaration {
  HandlerDeclaration(
    application: application(id, origin: origin), domains: try domains.map { try DomainPattern($0) }, schemes: schemes)
}

/// A sequence that is the same in every run, so that a failure can be repeated.
struct Repeatable: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

/// Makes a change, which is or is not possible.
func expect(
  _ isPossible: Bool, _ choices: inout HandlerChoices, _ change: HandlerChoices.Change,
  at location: SourceLocation = #_sourceLocation
) {
  let wasPossible = choices.apply(change)
  #expect(wasPossible == isPossible, sourceLocation: location)
}
