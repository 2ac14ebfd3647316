package import Associations
package import EventLoop

/// Updates the records of domains.
package struct AssociationRefresh: Sendable {
  /// The result of asking a domain for a document.
  package struct Finding: Sendable, Hashable {
    /// The domain.
    package let domain: String
    /// The document.
    package let document: AssociationDocument
    /// The answer, or why there is none.
    package let outcome: FetchOutcome
    /// The record after the request.
    package let record: AssociationRecord
    /// Why the record could not be stored; nil if it was stored, or if there is no store.
    package let problem: SystemError?
  }

  /// How many domains are asked at a time. A handler may claim hundreds, and no request is urgent.
  static let maximumAtOnce = 4

  private let fetcher: AssociationFetcher
  private let store: AssociationStore?
  private let now: @Sendable () -> Int64

  /// Without a store, no record is stored. `now` is the time, in seconds since 1970.
  package init(fetcher: AssociationFetcher, store: AssociationStore?, now: @escaping @Sendable () -> Int64) {
    self.fetcher = fetcher
    self.store = store
    self.now = now
  }

  /// Asks domains in IDNA form for both documents, or with `onlyDue` only for those that are due.
  ///
  /// Returns the findings for each domain, in the order of `domains`. The findings for a domain are in the order of
  /// `AssociationDocument.allCases`.
  package func ask(_ domains: [String], onlyDue: Bool = false) async -> [[Finding]] {
    await withTaskGroup(of: (Int, [Finding]).self) { group in
      var findings = [[Finding]](repeating: [], count: domains.count)
      var rest = domains.indices[...]
      func begin() {
        guard let index = rest.popFirst() else { return }
        group.addTask { (index, await ask(domains[index], onlyDue: onlyDue)) }
      }
      for _ in 0..<Self.maximumAtOnce { begin() }
      while let (index, found) = await group.next() {
        findings[index] = found
        begin()
      }
      return findings
    }
  }

  private func ask(_ domain: String, onlyDue: Bool) async -> [Finding] {
    var findings: [Finding] = []
    for document in AssociationDocument.allCases {
      var record = await store?.record(of: document, at: domain) ?? AssociationRecord()
      if onlyDue && !record.isDue(at: now()) { continue }
      let outcome = await fetcher.fetch(document, of: domain)
      record.take(outcome, at: now())
      let problem = await keep(record, of: document, at: domain)
      findings.append(
        Finding(domain: domain, document: document, outcome: outcome, record: record, problem: problem))
    }
    return findings
  }

  private func keep(
    _ record: AssociationRecord, of document: AssociationDocument, at domain: String
  ) async -> SystemError? {
    do throws(SystemError) {
      try await store?.keep(record, of: document, at: domain)
      return nil
    } catch {
      return error
    }
  }
}
