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

/// Applies a change, and checks whether it is possible.
func expect(
  _ isPossible: Bool, _ choices: inout HandlerChoices, _ change: HandlerChoices.Change,
  at location: SourceLocation = #_sourceLocation
) {
  let wasPossible = choices.apply(change)
  #expect(wasPossible == isPossible, sourceLocation: location)
}
