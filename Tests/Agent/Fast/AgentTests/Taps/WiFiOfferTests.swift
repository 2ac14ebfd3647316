import Handlers
import Inbox
import NDEF
import Notifications
import Routing
import Testing

@testable import Agent

/// The question about a Wi-Fi network of a tag.
struct WiFiOfferTests {
  private func offer(
    _ network: WiFiNetwork = WiFiNetwork(ssid: "Guest", passphrase: "visitors"),
    _ availability: WiFiAvailability = .available
  ) throws -> TapOffer {
    try offer(NDEFMessage(records: [WiFiRecord([network]).record()]), availability)
  }

  private func offer(_ message: NDEFMessage, _ availability: WiFiAvailability) throws -> TapOffer {
    let reading = try TagReading(tapValues(1, message: try message.encoded()), now: sampleTime)
    return TapOffer(reading, registry: Registry(), policy: RoutingPolicy(), languages: []).connecting(availability)
  }

  @Test func `the question names the network and never the password`() throws {
    let offer = try offer()
    #expect(offer.isShown && offer.isOpenable && offer.connects && !offer.mayOpenAtOnce && !offer.mayOpenAlways)
    let shown = offer.notification(timeout: -1, canCopy: true)
    #expect(shown.summary.string == "Connect to Wi-Fi “Guest”?")
    #expect(shown.body.string == "The password is on the tag")
    #expect(shown.buttons.map(\.label) == ["Connect", "Connect and Save", "Dismiss"])
    let reading = try TagReading(
      tapValues(1, message: try NDEFMessage(records: [TextRecord("a", language: "en").record()]).encoded()),
      now: sampleTime)
    #expect(offer.tap(reading).title == "Wi-Fi network “Guest”")
    #expect(!"\(offer)".contains("visitors") && !"\(shown)".contains("visitors"))
  }

  @Test func `an open network is named as such`() throws {
    let shown = try offer(WiFiNetwork(ssid: "Café", passphrase: nil)).notification(timeout: -1, canCopy: true)
    #expect(shown.summary.string == "Connect to Wi-Fi “Café”?")
    #expect(shown.body.string.hasPrefix("The network has no password"))
  }

  @Test func `a name cannot end its quotation or hide a part of itself`() throws {
    let shown = try offer(WiFiNetwork(ssid: "a”?\u{202E}\n<b>", passphrase: nil)).notification(
      timeout: -1, canCopy: true)
    #expect(shown.summary.string == "Connect to Wi-Fi “a\\xE2\\x80\\x9D?\\xE2\\x80\\xAE\\x0A<b>”?")
  }

  @Test(arguments: [WiFiAvailability.noNetworkManager, .noDevice, .off])
  func `without Wi-Fi, the notification shows the name and says why`(availability: WiFiAvailability) throws {
    let offer = try offer(WiFiNetwork(ssid: "Guest", passphrase: "visitors"), availability)
    #expect(offer.isShown && !offer.isOpenable && offer.copied == "Guest")
    let shown = offer.notification(timeout: -1, canCopy: true)
    #expect(shown.summary.string == "Wi-Fi network “Guest”")
    #expect(shown.body.string == Messages.whyNoWiFi(availability) && !shown.body.isEmpty)
    #expect(shown.buttons.map(\.label) == ["Copy", "Dismiss"])
    #expect(offer.answer(to: "save", canCopy: true) == .showAgain)
  }

  @Test func `a network with another security is shown, with the reason`() throws {
    let payload: [UInt8] = [0x10, 0x0E, 0, 11, 0x10, 0x45, 0, 1, 0x41, 0x10, 0x03, 0, 2, 0, 0x10]
    let record = NDEFRecord(typeNameFormat: .mediaType, type: Array(WiFiRecord.type.utf8), payload: payload)
    let shown = try offer(NDEFMessage(records: [record]), .available).notification(timeout: -1, canCopy: false)
    #expect(shown.summary.string == "Wi-Fi network “A”")
    #expect(shown.body.string.hasPrefix("It needs a user name"))
    #expect(shown.buttons.map(\.label) == ["Dismiss"])
  }

  @Test func `only the second button saves`() throws {
    let offer = try offer()
    for action in ["open", "default", "retry"] { #expect(offer.answer(to: action, canCopy: true) == .open(offer, nil)) }
    #expect(offer.answer(to: "save", canCopy: true) == .open(offer.opening(.savingNetwork), nil))
    #expect(offer.manner == .once)
    #expect(offer.answer(to: "copy", canCopy: true) == .showAgain)
    #expect(offer.handOverKey != offer.opening(.savingNetwork).handOverKey)
  }

  @Test func `a click counts only while the network can be joined`() throws {
    let here = try offer()
    let gone = try offer(WiFiNetwork(ssid: "Guest", passphrase: "visitors"), .off)
    #expect(here.confirmed(by: here, isAnswer: false, hasFailed: false) == here)
    #expect(here.confirmed(by: gone, isAnswer: false, hasFailed: false) == nil)
  }

  @Test func `a failure names the network`() throws {
    let reason = try #require(HandOverOutcome.failed(HandOverFailure(.networkPassword)).failure)
    let shown = try offer().notification(failed: reason, timeout: -1, canCopy: true)
    #expect(shown.summary.string == "Could not connect to Wi-Fi “Guest”")
    #expect(shown.body.string.hasSuffix("The network did not accept the password on the tag"))
    #expect(shown.buttons.map(\.label) == ["Try again", "Dismiss"])
    let gone = try offer(WiFiNetwork(ssid: "Guest", passphrase: "visitors"), .off)
    #expect(gone.notification(failed: reason, timeout: -1, canCopy: false).body.string == "Wi-Fi is switched off")
  }
}
