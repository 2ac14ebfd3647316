package import NDEF
import UniversalLinks

extension Registry {
  /// Decides which application opens the message of a tag. A message without a URI gets an answer too.
  ///
  /// The first record of the well-known type `U` decides, regardless of the other records, as in Apple's "Adding
  /// Support for Background Tag Reading". If there is none at the top level, the first Smart Poster provides the URI,
  /// if the policy allows it. Otherwise the type of the first absolute-URI record is the URI (NDEF 1.0, section 3.2.6).
  /// Texts are ignored.
  ///
  /// If there is no URI, the first record with a media type or an external type decides, in the same way: by itself,
  /// even if no application takes it. Android application records do not count.
  ///
  /// Recording the steps of the answer takes longer than the decision.
  package func route(
    for message: NDEFMessage, policy: RoutingPolicy = RoutingPolicy(), explaining: Bool = true
  ) -> Route {
    var steps = Explanation(isWanted: explaining)
    for (number, record) in zip(1..., message.records) where record.isWellKnown(URIRecord.type) {
      steps.add("record", "record \(number) of \(message.records.count) is the first URI record")
      return route(for: record, policy: policy, steps)
    }
    steps.add("record", "none of \(message.records.count) records is a URI record")
    var reason = "the message has no URI record"
    if let poster = message.records.first(where: { $0.isWellKnown(SmartPosterRecord.type) }) {
      do throws(RoutingObstacle) {
        let record = try link(in: poster, policy: policy, &steps)
        steps.add("record", "the first Smart Poster holds the URI")
        return route(for: record, policy: policy, steps)
      } catch {
        reason = error.message
      }
    }
    for (number, record) in zip(1..., message.records) where record.typeNameFormat == .absoluteURI {
      steps.add("record", "record \(number) is an absolute URI")
      let route = route(for: String(decoding: record.type, as: UTF8.self), policy: policy, steps)
      // Windows Phones write `windows.com/LaunchApp` there, which is no link.
      if route.refusal != .badScheme { return route }
      steps.add("record", "the absolute URI has no scheme, and is ignored")
    }
    return route(withoutLink: message, reason, policy: policy, steps)
  }

  private func link(
    in poster: NDEFRecord, policy: RoutingPolicy, _ steps: inout Explanation
  ) throws(RoutingObstacle) -> NDEFRecord {
    guard policy.smartPosters else {
      steps.add("record", "there is a Smart Poster, but Smart Posters are switched off")
      throw RoutingObstacle("the message has no URI record, and Smart Posters are switched off")
    }
    do {
      let content = try NDEFMessage(decoding: poster.payload)
      if let record = content.records.first(where: { $0.isWellKnown(URIRecord.type) }) { return record }
    } catch {
      steps.add("record", "the Smart Poster cannot be decoded: \(error)")
      throw RoutingObstacle("the Smart Poster cannot be decoded")
    }
    throw RoutingObstacle("the Smart Poster has no URI record")
  }

  private func route(for record: NDEFRecord, policy: RoutingPolicy, _ steps: Explanation) -> Route {
    var steps = steps
    do {
      return route(for: try URIRecord(record).uri, policy: policy, steps)
    } catch {
      let reason = "the URI record cannot be decoded: \(error)"
      steps.add("record", reason)
      return .refused(reason, nil, steps)
    }
  }
}
