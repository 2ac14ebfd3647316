import Bus
import Handlers
import Inbox
import NDEF
import Names
import Notifications
import Testing
import UniversalLinks

@testable import Agent
@testable import Routing

let sampleMicroseconds: UInt64 = 1_795_000_000_000_000
let sampleTime = Timestamp(microseconds: 1_795_000_000_000_000)

/// A UUID that ends in `number`.
func tapID(_ number: Int) -> String {
  let digits = String(number, radix: 16)
  return "01234567-89ab-4cde-8f01-" + String(repeating: "0", count: 12 - digits.count) + digits
}

/// The daemon's description of a tag.
func tapValues(
  _ number: Int, message: [UInt8], uid: [UInt8]? = nil, technology: String = "type-2"
) -> [String: Value] {
  [
    "id": .string(tapID(number)), "message": .bytes(message), "technology": .string(technology),
    "uid": .bytes(uid ?? [4, 0, 0, 0, 0, UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)]),
    "reader": .string("/org/tagroute/Tagroute1/readers/0"), "time": .uint64(1_795_000_000_000_000),
  ]
}

func uriMessage(_ uri: String) throws -> [UInt8] { try NDEFMessage.uri(uri).encoded() }

let menu = Application(
  desktopID: "org.example.Menu.desktop", name: "Menu", icon: "menu", file: "/usr/share/applications/x", origin: .system)

/// The app for links that no app claims.
let sampleBrowser = Application(
  desktopID: "web.desktop", name: "Web", file: "/usr/share/applications/web", origin: .system)

/// An app with an entry that starts `launch`, by default its own id.
func sampleApplication(
  _ id: String, name: String? = nil, _ origin: Application.Origin, launch: String? = nil
) -> Application {
  Application(desktopID: "\(id).desktop", name: name ?? id, file: "/f/\(id)", origin: origin, launch: launch ?? id)
}

func sampleOffer(_ number: Int, tag: Int? = nil, handler: Application? = menu, question: Route.Question = .nothing)
  throws
  -> TapOffer
{
  let link = "https://menu.example.com/table/\(number)"
  let read = TagRead(
    id: tapID(number), time: 0, reader: "", technology: "type-2", uid: [UInt8(truncatingIfNeeded: tag ?? number)],
    bytes: try uriMessage(link))
  let route = Route(
    kind: .universalLink, uri: try URI(link), handler: handler, candidates: [handler].compactMap(\.self),
    question: question, trusted: true, reason: "claims it", steps: [])
  return TapOffer(
    read: read, route: route, handler: handler, handsOverMessage: true, question: question, namesakes: [],
    title: DisplayText(""), words: DisplayText(""), data: nil)
}

extension TapOffer {
  private struct NotOpened: Error { let action: String }

  /// What a click opens, and the choice that the user makes with it.
  func opened(by action: String) throws -> (offer: TapOffer, choice: HandlerChoices.Change?) {
    guard case .open(let offer, let choice) = answer(to: action) else { throw NotOpened(action: action) }
    return (offer, choice)
  }
}

let samplePlace = NotificationPlace(bus: "bus", owner: ":1.7", id: 5)

extension TapPolicy {
  /// Handles a click after the opening is stored.
  mutating func open(_ offer: TapOffer, token: String?, choice: HandlerChoices.Change? = nil) -> [Action] {
    handle(.opening(offer, token: token, choice: choice))
  }
}
