import Bus
import Names
package import TagrouteClient

/// The apps that the agent knows, by their ids and by the names that people see.
package struct KnownApps: Sendable {
  private let handlers: [HandlerDescription]

  init(_ handlers: [HandlerDescription]) { self.handlers = handlers }

  /// None if the agent does not answer: then only ids are understood and shown.
  package static func of(_ agent: AgentClient?) async -> KnownApps { KnownApps((try? await agent?.handlers()) ?? []) }

  /// The desktop id of an app as a person types it: `org.example.Menu`, `org.example.Menu.desktop`, or its name if no
  /// other app has it. An id need not be known, because an app that is no handler has one, too.
  package func id(of typed: String) throws(Failure) -> String {
    let id = AppID.desktopID(typed)
    if handlers.contains(where: { $0.id == id }) { return id }
    let named = Set(handlers.filter { !$0.name.isEmpty && $0.name.lowercased() == typed.lowercased() }.map(\.id))
    guard named.count <= 1 else {
      let ids = named.sorted().map(AppID.text).joined(separator: ", ")
      throw .usage("\(named.count) apps are called \(typed): name one by its id: \(ids)")
    }
    if let only = named.first { return only }
    guard !typed.isEmpty, !typed.contains(where: { $0.isWhitespace || $0 == "/" }) else {
      throw .usage("no app is called “\(typed)”: tagroute handlers lists the apps with their ids")
    }
    return id
  }

  /// An app for people: its name and its id, `Menu (org.example.Menu)`, or the id alone if the name is not known.
  package func text(_ desktopID: String) -> String {
    let id = AppID.text(desktopID)
    return name(desktopID).map { "\($0) (\(id))" } ?? id
  }

  /// The name of an app, where its id is not needed; nil if it is not known.
  func name(_ desktopID: String) -> String? {
    handlers.first { $0.id == desktopID && !$0.name.isEmpty }?.name
  }
}
