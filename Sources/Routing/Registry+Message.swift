public import NDEF

extension Registry {
  /// Decides which application opens the message of a tag. A message without a URI gets an answer too.
  ///
  /// The first record of the well-known type `U` decides, regardless of the other records, as in Apple's "Adding
  /// Support for Background Tag Reading". If there is none at the top level, the first Smart Poster provides the URI,
  /// if the policy allows it. Absolute-URI records and texts are ignored.
  ///
  /// If there is no URI, the first record with a media type or an external type decides, in the same way: by itself,
  /// even if no application takes it. Android application records do not count.
  ///
  /// Recording the steps of the answer takes longer than the decision.
  public func route(
    for message: NDEFMessage, policy: RoutingPolicy = RoutingPolicy(), explaining: Bool = true
  ) -> Route {
    var steps = Explanation(isWanted: explaining)
    for (number, record) in zip(1..., message.records) where record.isWellKnown(URIRecord.type) {
      steps.add("record", "record \(number) of \(message.records.count) is the first URI record")
      return route(for: record, policy: policy, steps)
    }
    steps.add("record", "none of \(message.records.count) records is a URI record")
    guard let poster = message.records.first(where: { $0.isWellKnown("Sp") }) else {
      return route(withoutLink: message, "the message has no URI record", policy: policy, steps)
    }
    guard policy.smartPosters else {
      steps.add("record", "there is a Smart Poster, but Smart Posters are switched off")
      return route(
        withoutLink: message, "the message has no URI record, and Smart Posters are switched off", policy: policy, steps
      )
    }
    do {
      let content = try NDEFMessage(decoding: poster.payload)
      guard let record = content.records.first(where: { $0.isWellKnown(URIRecord.type) }) else {
        return route(withoutLink: message, "the Smart Poster has no URI record", policy: policy, steps)
      }
      steps.add("record", "the first Smart Poster holds the URI")
      return route(for: record, policy: policy, steps)
    } catch {
      steps.add("record", "the Smart Poster cannot be decoded: \(error)")
      return route(withoutLink: message, "the Smart Poster cannot be decoded", policy: policy, steps)
    }
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
