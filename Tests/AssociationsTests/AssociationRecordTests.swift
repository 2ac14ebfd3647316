@testable import Associations
import Testing

@Suite struct AssociationRecordTests {
  private static let file = Array(#"{"applinks": {"details": [{"appIDs": ["a"], "components": []}]}}"#.utf8)
  private static let failed = FetchOutcome.failed(FetchFailure(.timeout, "it took too long"))
  private static let now: Int64 = 1_800_000_000

  private func answered(_ outcome: FetchOutcome = .found(file, cacheControl: "max-age=7200")) -> AssociationRecord {
    var record = AssociationRecord()
    record.take(outcome, at: Self.now)
    return record
  }

  @Test("what was never asked for is due, and nothing counts")
  func new() {
    #expect(AssociationRecord().isDue(at: Self.now))
    #expect(AssociationRecord().current(at: Self.now) == nil)
  }

  @Test("an answer counts at once, and is asked for again when it has expired")
  func expiry() {
    let record = answered()
    #expect(record.current(at: Self.now) == .file(Self.file))
    #expect(!record.isDue(at: Self.now + 7199))
    #expect(record.isDue(at: Self.now + 7200))
  }

  @Test("an expired answer counts as long as no other has come, for 30 days")
  func lastKnown() {
    let record = answered()
    #expect(record.current(at: Self.now + 30 * 86_400 - 1) == .file(Self.file))
    #expect(record.current(at: Self.now + 30 * 86_400) == nil)
  }

  @Test("failures leave the answer alone, but not for ever")
  func failures() {
    var record = answered()
    var now = Self.now
    for day in 1...29 {
      now = Self.now + Int64(day) * 86_400
      record.take(Self.failed, at: now)
      #expect(record.current(at: now) == .file(Self.file))
    }
    #expect(record.failures == 29)
    #expect(record.current(at: Self.now + 30 * 86_400) == nil)
  }

  @Test("the pause doubles with each failure, from an hour to a day")
  func pauses() {
    var record = AssociationRecord()
    var pauses: [Int64] = []
    for _ in 0..<7 {
      record.take(Self.failed, at: Self.now)
      pauses.append(record.due - Self.now)
    }
    #expect(pauses == [3600, 7200, 14_400, 28_800, 57_600, 86_400, 86_400])
    for _ in 0..<2000 { record.take(Self.failed, at: Self.now) }
    #expect(record.due == Self.now + 86_400)
    record.take(.found(Self.file, cacheControl: nil), at: Self.now)
    #expect(record.failures == 0 && record.failure == nil)
  }

  @Test("a domain that says it has none takes its word back")
  func absent() {
    var record = answered()
    record.take(.absent, at: Self.now + 60)
    #expect(record.current(at: Self.now + 60) == AssociationRecord.Answer.none)
  }

  @Test("a clock that was wrong: asked again, and an answer of the future counts for nothing")
  func clock() {
    let record = answered()
    #expect(record.isDue(at: Self.now - 1))
    #expect(record.current(at: Self.now - 1) == nil)
  }

  @Test("a file that is none is a failure that says where")
  func checked() {
    let outcome = FetchOutcome.found(Array("{]".utf8), cacheControl: nil).checked(as: .appSiteAssociation)
    guard case .failed(let failure) = outcome else {
      Issue.record("\(outcome)")
      return
    }
    #expect(failure.code == .malformed && failure.message.contains("1:2"))
    let found = FetchOutcome.found(Self.file, cacheControl: nil)
    #expect(found.checked(as: .appSiteAssociation) == found)
    guard case .failed(let other) = found.checked(as: .assetLinks) else {
      Issue.record("one kind of file is taken for the other")
      return
    }
    #expect(other.code == .malformed)
  }

  @Test("a record comes back from its file as it was")
  func roundTrip() {
    var failing = answered()
    failing.take(.failed(FetchFailure(.status, "line\none\r\ntwo")), at: Self.now + 9)
    for record in [AssociationRecord(), answered(), answered(.absent), answered(Self.failed)] {
      #expect(AssociationRecord(encoded: record.encoded) == record)
    }
    let read = AssociationRecord(encoded: failing.encoded)
    #expect(read?.failure?.message == "line one two")
    #expect(read?.answer == failing.answer && read?.due == failing.due)
  }

  @Test("no bytes trap, and what is cut or changed is none")
  func broken() {
    let whole = answered().encoded
    for count in 0..<whole.count {
      let cut = AssociationRecord(encoded: Array(whole[..<count]))
      // Of one that ends within its document the document is none.
      guard case .file(let file)? = cut?.answer else {
        #expect(cut == nil, "\(count)")
        continue
      }
      #expect(AssociationDocument.appSiteAssociation.mistake(in: file) != nil, "\(count)")
    }
    for index in whole.indices {
      for byte: UInt8 in [0, 0x0A, 0x20, 0xFF] {
        var changed = whole
        changed[index] = byte
        _ = AssociationRecord(encoded: changed)
      }
    }
  }
}
