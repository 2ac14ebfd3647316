import Foundation
import NDEF
import TagrouteClient
import Testing

@testable import CoreNFC

@Suite struct UserActivityTests {
  private static let link = "https://menu.example.com/7"

  @Test func `a tag opens with its link and its whole message`() throws {
    let text = NDEFRecord.wellKnown("T", payload: [2, 0x65, 0x6E])
    let message = NDEFMessage(records: NDEFMessage.uri(Self.link).records + [text])
    let opening = TagOpening(
      uri: Self.link, message: message, activationToken: "t", tapID: "id", uid: [4, 0xA2],
      technology: "type-2", reader: "/readers/0", time: 1_500_000)
    let activity = NSUserActivity(opening)
    #expect(activity.activityType == NSUserActivityTypeBrowsingWeb)
    #expect(activity.webpageURL == URL(string: Self.link))
    #expect(activity.ndefMessagePayload.records.map(\.record) == message.records)
    #expect(activity.activationToken == "t")
    #expect(activity.tapIdentifier == "id")
    #expect(activity.tagIdentifier == Data([4, 0xA2]))
    #expect(activity.tagTechnology == "type-2")
    #expect(activity.readerIdentifier == "/readers/0")
    #expect(activity.tagDate == Date(timeIntervalSince1970: 1.5))
    #expect(activity.userInfo == nil)
  }

  @Test func `a link without a tag has one empty record`() {
    let activity = NSUserActivity(TagOpening(uri: Self.link))
    #expect(activity.activityType == NSUserActivityTypeBrowsingWeb)
    #expect(activity.webpageURL == URL(string: Self.link))
    #expect(activity.ndefMessagePayload.records.map(\.typeNameFormat) == [.empty])
    #expect(activity.tapIdentifier == nil)
    #expect(activity.tagIdentifier == nil && activity.tagTechnology == nil)
    #expect(activity.readerIdentifier == nil && activity.tagDate == nil)
  }

  @Test func `a plain start is no link`() {
    let activity = NSUserActivity(TagOpening(activationToken: "t"))
    #expect(activity.activityType == "org.freedesktop.Application.Activate")
    #expect(activity.webpageURL == nil)
    #expect(activity.ndefMessagePayload.records.map(\.typeNameFormat) == [.empty])
    #expect(activity.activationToken == "t")
  }

  @Test func `a message without a link comes from a tag`() {
    let message = NDEFMessage(records: [.wellKnown("T", payload: [2, 0x65, 0x6E])])
    let activity = NSUserActivity(TagOpening(message: message))
    #expect(activity.activityType == NSUserActivityTypeBrowsingWeb)
    #expect(activity.webpageURL == nil)
    #expect(activity.ndefMessagePayload.records.count == 1)
  }

  @Test func `an activity that a program makes has its values and one empty record`() {
    let activity = NSUserActivity(activityType: "org.example.view")
    activity.title = "Menu"
    activity.userInfo = ["page": 7]
    activity.webpageURL = URL(string: Self.link)
    #expect(activity.activityType == "org.example.view")
    #expect(activity.title == "Menu")
    #expect(activity.userInfo?["page"] as? Int == 7)
    #expect(activity.ndefMessagePayload.records.map(\.typeNameFormat) == [.empty])
    #expect(activity.ndefMessagePayload === activity.ndefMessagePayload)
  }

  private struct Closed: Error, CustomStringConvertible {
    let description = "the kitchen is closed"
  }

  private struct Full: LocalizedError {
    let errorDescription: String? = "The restaurant is full."
  }

  @Test func `the user sees the text of an error of any kind`() {
    #expect(ActivityFailure(Closed()).description == "the kitchen is closed")
    #expect(ActivityFailure(Full()).description == "The restaurant is full.")
    let error = NFCReaderError(.readerTransceiveErrorTagConnectionLost)
    #expect(ActivityFailure(error).description == error.localizedDescription)
    let object = NSError(domain: "menu", code: 1, userInfo: [NSLocalizedDescriptionKey: "No menu."])
    #expect(ActivityFailure(object).description == "No menu.")
  }
}
