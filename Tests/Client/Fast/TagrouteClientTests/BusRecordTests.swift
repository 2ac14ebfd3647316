import Bus
import Foundation
import TagrouteClient
import Testing

/// The dictionaries of `org.tagroute.Agent1`, in both directions and as JSON.
struct BusRecordTests {
  private func json(_ record: some Encodable) throws -> [String: Any] {
    try #require(JSONSerialization.jsonObject(with: JSONEncoder().encode(record)) as? [String: Any])
  }

  private func tap(message: [UInt8]?) -> TapDescription {
    var tap = TapDescription()
    (tap.id, tap.time, tap.uri, tap.title, tap.state) = ("a", 1, "https://example.com/", "example.com", "failed")
    (tap.sequence, tap.message, tap.uid) = (7, message, [4, 0xAB])
    (tap.stateReasonCode, tap.stateTime) = ("nowhere", 2)
    return tap
  }

  @Test func `what the agent encodes, its clients decode`() {
    #expect(TapDescription(tap(message: [1, 2]).values) == tap(message: [1, 2]))
    var claimant = ClaimantDescription()
    (claimant.id, claimant.outcome, claimant.rule) = ("a.desktop", "excluded", "1")
    var resolution = Resolution()
    (resolution.kind, resolution.candidates, resolution.moreCandidates) = ("scheme", ["a.desktop"], 3)
    (resolution.claimants, resolution.trusted, resolution.steps) = ([claimant], true, ["uri: valid"])
    #expect(Resolution(resolution.values) == resolution)
    let handler = HandlerDescription(id: "a.desktop", path: "/a.desktop", problem: "no Exec", line: 3, column: nil)
    #expect(HandlerDescription(handler.values) == handler)
    var setting = SettingDescription()
    (setting.value, setting.defaultValue, setting.isSet) = ("30", "server", true)
    #expect(SettingDescription(setting.values) == setting)
    #expect(setting.values == ["value": .string("30"), "default": .string("server"), "set": .boolean(true)])
  }

  @Test func `a tap without its message has only the keys of a list`() throws {
    let values = tap(message: nil).values
    #expect(
      values.keys.sorted() == [
        "handler", "id", "sequence", "state", "state-reason", "state-reason-code", "time", "title", "uri",
      ])
    #expect(values["handler"] == .string(""))
    let object = try json(tap(message: nil))
    #expect(
      object.keys.sorted() == [
        "handler", "id", "program", "readAt", "rule", "state", "stateReason", "stateReasonCode", "time", "title", "uri",
      ])
    #expect(object["readAt"] as? String == "1970-01-01T00:00:00.000Z" && object["rule"] is NSNull)
  }

  @Test func `an absent value is null in JSON, and bytes are hexadecimal digits`() throws {
    let object = try json(tap(message: [0, 0xFF]))
    #expect(
      object.keys.sorted() == [
        "handler", "id", "message", "program", "readAt", "reader", "reason", "rule", "state", "stateAt", "stateReason",
        "stateReasonCode", "stateTime", "technology", "time", "title", "uid", "uri",
      ])
    #expect(object["handler"] is NSNull && object["reason"] is NSNull)
    #expect(object["message"] as? String == "00FF" && object["uid"] as? String == "04AB")
  }

  @Test func `a handler with a problem has every key but a column that it does not know`() throws {
    let handler = HandlerDescription(id: "a.desktop", path: "/a.desktop", problem: "no Exec", line: 3, column: nil)
    #expect(
      handler.values.keys.sorted() == [
        "allowed", "blocked", "domains", "external-types", "id", "line", "mime-types", "name", "origin", "path",
        "preferred", "problem", "schemes", "trusted",
      ])
    #expect(handler.place == "/a.desktop:3")
    #expect(try json(handler)["column"] is NSNull)
  }

  @Test func `a key that is missing, unknown or of another type changes nothing`() {
    let handler = HandlerDescription(["id": .uint32(1), "trusted": .string("yes"), "new": .boolean(true)])
    #expect(handler == HandlerDescription())
  }
}
