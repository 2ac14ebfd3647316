import Rig
import Testing

@testable import Associations

@Suite struct AssociationRecordTests {
  private static let file = Array(#"{"applinks": {"details": [{"appIDs": ["a"], "components": []}]}}"#.utf8)
  private static let failed = FetchOutcome.failed(FetchFailure(.timeout, "it took too long"))
  private static let now: Int64 = 1_800_000_000

  private func answered(_ outcome: FetchOutcome = .found(file, cacheControl: "max-age=7200")) -> AssociationRecord {
    var record = AssociationRecord()
    record.take(outcome, at: Self.now)
    return record
  }

  @Test func `a new record is due and has no answer`() {
    #expect(AssociationRecord().isDue(at: Self.now))
    #expect(AssociationRecord().current(at: Self.now) == nil)
  }

  @Test func `an answer applies at once, and is due again when it has expired`() {
    let record = answered()
    #expect(record.current(at: Self.now) == .file(Self.file))
    #expect(!record.isDue(at: Self.now + 7199))
    #expect(record.isDue(at: Self.now + 7200))
  }

  @Test func `an expired answer applies for up to 30 days if no other has arrived`() {
    let record = answered()
    #expect(record.current(at: Self.now + 30 * 86_400 - 1) == .file(Self.file))
    #expect(record.current(at: Self.now + 30 * 86_400) == nil)
  }

  @Test func `failures keep the last answer for at most 30 days`() {
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

  @Test func `the pause doubles with each failure, from an hour to a day`() {
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

  @Test func `a domain that reports no file withdraws its earlier answer`() {
    var record = answered()
    record.take(.absent, at: Self.now + 60)
    #expect(record.current(at: Self.now + 60) == AssociationRecord.Answer.none)
  }

  @Test func `if the clock was wrong, a record is due and an answer from the future is ignored`() {
    let record = answered()
    #expect(record.isDue(at: Self.now - 1))
    #expect(record.current(at: Self.now - 1) == nil)
  }

  @Test func `a malformed file is a failure that names the location`() throws {
    let outcome = FetchOutcome.found(Array("{]".utf8), cacheControl: nil).checked(as: .appSiteAssociation)
    guard case .failed(let failure) = outcome else { throw RigError("\(outcome)") }
    #expect(failure.code == .malformed && failure.message.contains("1:2"))
    let found = FetchOutcome.found(Self.file, cacheControl: nil)
    #expect(found.checked(as: .appSiteAssociation) == found)
    guard case .failed(let other) = found.checked(as: .assetLinks) else {
      throw RigError("an app site association was accepted as asset links")
    }
    #expect(other.code == .malformed)
  }

  @Test func `a record survives encoding and decoding`() {
    var failing = answered()
    failing.take(.failed(FetchFailure(.status, "line\none\r\ntwo")), at: Self.now + 9)
    for record in [AssociationRecord(), answered(), answered(.absent), answered(Self.failed)] {
      #expect(AssociationRecord(encoded: record.encoded) == record)
    }
    let read = AssociationRecord(encoded: failing.encoded)
    #expect(read?.failure?.message == "line one two")
    #expect(read?.answer == failing.answer && read?.due == failing.due)
  }

  @Test func `damaged bytes never trap, and a truncated record has no valid document`() {
    let whole = answered().encoded
    for count in 0..<whole.count {
      let cut = AssociationRecord(encoded: Array(whole[..<count]))
      // If the record was cut within its document, that document is invalid.
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

@Suite struct CacheLifetimeTests {
  @Test(
    arguments: [
      (nil, 86_400), ("", 86_400), ("public", 86_400), ("max-age=7200", 7200), ("public, max-age=7200", 7200),
      ("Max-Age=7200", 7200), ("max-age=\"7200\"", 7200), (" max-age = 7200 ,must-revalidate", 7200),
      ("max-age=0", 3600),
      ("max-age=3599", 3600), ("max-age=3601", 3601), ("max-age=604801", 604_800),
      ("max-age=99999999999999999999999", 604_800), ("max-age=-1", 86_400), ("max-age=", 86_400), ("max-age", 86_400),
      ("max-age=7200x", 86_400), ("max-age=7200, no-cache", 3600), ("no-store", 3600), ("NO-STORE", 3600),
      ("s-maxage=7200", 86_400), (",,=,=,", 86_400),
    ] as [(String?, Int64)])
  func `Cache-Control gives a lifetime between an hour and seven days`(text: String?, expected: Int64) {
    #expect(CacheLifetime.seconds(text) == expected)
  }
}
