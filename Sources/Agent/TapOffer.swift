import Inbox
import NDEF
import Notifications
import Routing
import UniversalLinks

/// A tap with what may be done about it: the decision, and the words in which the user is asked.
struct TapOffer: Sendable, Hashable {
  /// The daemon's UUID for this reading.
  let id: String
  /// Which tag it was.
  let tag: TagIdentity
  /// The link; nil where there is none that may be opened.
  let uri: URI?
  /// Who opens it; nil where nobody does.
  let handler: Application?
  /// Everybody who could, the handler first.
  let candidates: [Application]
  /// Whether the handler gets the whole message, or the link alone.
  let handsOverMessage: Bool
  /// Why it is this handler, which names the domain that it claims; or why there is none, which tells nothing of the link but
  /// its scheme.
  let reason: String
  /// What a Smart Poster calls the link, in the user's language; empty where there is none.
  let title: DisplayText

  /// - Parameters:
  ///   - reading: what was read.
  ///   - registry: who handles what.
  ///   - policy: what the user's configuration says.
  ///   - languages: the user's languages, the best first.
  init(_ reading: TagReading, registry: Registry, policy: RoutingPolicy, languages: [String]) {
    id = reading.id
    tag = reading.tag
    do {
      let message = try NDEFMessage(decoding: reading.message)
      let route = registry.route(for: message, policy: policy)
      uri = route.uri
      handler = route.handler
      candidates = route.candidates
      handsOverMessage = route.handsOverMessage
      reason = route.reason
      title =
        route.uri.map { TapOffer.title(of: message, for: $0, policy: policy, languages: languages) } ?? DisplayText("")
    } catch {
      (uri, handler, candidates, handsOverMessage) = (nil, nil, [], false)
      reason = "the message is not NDEF: \(error.description)"
      title = DisplayText("")
    }
  }

  init(
    id: String, tag: TagIdentity, uri: URI?, handler: Application?, candidates: [Application], handsOverMessage: Bool,
    reason: String, title: DisplayText
  ) {
    self.id = id
    self.tag = tag
    self.uri = uri
    self.handler = handler
    self.candidates = candidates
    self.handsOverMessage = handsOverMessage
    self.reason = reason
    self.title = title
  }

  /// Whether there is anything to offer.
  var isOpenable: Bool { handler != nil && uri != nil }

  /// The same tap, opened by another of its candidates; nil where there is none with that desktop id.
  func handed(to desktopID: String) -> TapOffer? {
    guard let other = candidates.first(where: { $0.desktopID == desktopID }) else { return nil }
    return TapOffer(
      id: id, tag: tag, uri: uri, handler: other, candidates: candidates, handsOverMessage: handsOverMessage,
      reason: reason, title: title)
  }

  /// What the inbox keeps of it.
  func tap(_ reading: TagReading) -> Tap {
    Tap(
      id: id, time: reading.time, message: reading.message, technology: reading.technology, uid: reading.uid,
      reader: reading.reader, uri: uri?.string, title: text.string, handler: handler?.desktopID)
  }

  /// The name of whoever opens it, for display.
  var handlerName: DisplayText {
    let name = DisplayText(handler?.name ?? "", limit: 60)
    return name.isEmpty ? DisplayText(handler?.desktopID ?? "", limit: 60) : name
  }

  /// The place that the link leads to, and only then the tag's own words: a title can claim anything, another place
  /// included, and a banner that is collapsed shows no more than the beginning.
  var text: DisplayText {
    let link = uri?.display() ?? ""
    return DisplayText(title.isEmpty ? link : "\(link) · \(title)", limit: 200)
  }

  /// What a Smart Poster calls `uri`; nothing where it is about another, which is then not the one that is opened.
  private static func title(
    of message: NDEFMessage, for uri: URI, policy: RoutingPolicy, languages: [String]
  ) -> DisplayText {
    guard let record = message.records.first(where: { $0.isWellKnown(SmartPosterRecord.type) }),
      let poster = try? SmartPosterRecord(record),
      let posterURI = try? URI(poster.uri), posterURI == uri,
      let title = poster.title(inPreferred: languages)
    else { return DisplayText("") }
    return DisplayText(title.text, limit: 60)
  }
}
