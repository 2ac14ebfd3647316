import CoreNFC

// Uses every member of messages and records with its type.

func useMessage(_ record: NFCNDEFPayload, _ data: Data) {
  let message = NFCNDEFMessage(records: [record])
  let _: NSObject = message
  let _: any NSSecureCoding = message
  let _: Bool = NFCNDEFMessage.supportsSecureCoding
  let _: ReferenceWritableKeyPath<NFCNDEFMessage, [NFCNDEFPayload]> = \.records
  let _: KeyPath<NFCNDEFMessage, Int> = \.length
  message.records.append(record)
  let _: NFCNDEFMessage? = NFCNDEFMessage(data: data)
  let _: NFCNDEFMessage = NFCNDEFMessage(records: [])
}

func useRecord(_ url: URL) {
  let record = NFCNDEFPayload(format: .media, type: Data("text/plain".utf8), identifier: Data(), payload: Data([1]))
  _ = NFCNDEFPayload(
    format: .media, type: Data("text/plain".utf8), identifier: Data(), payload: Data([1]), chunkSize: 16)
  let _: NSObject = record
  let _: any NSSecureCoding = record
  let _: Bool = NFCNDEFPayload.supportsSecureCoding
  let _: ReferenceWritableKeyPath<NFCNDEFPayload, NFCTypeNameFormat> = \.typeNameFormat
  let _: ReferenceWritableKeyPath<NFCNDEFPayload, Data> = \.type
  let _: ReferenceWritableKeyPath<NFCNDEFPayload, Data> = \.identifier
  let _: ReferenceWritableKeyPath<NFCNDEFPayload, Data> = \.payload
  record.typeNameFormat = .nfcExternal
  record.type = Data("example.com:table".utf8)
  record.identifier = Data([1])
  record.payload = Data([2])
  let _: NFCNDEFPayload? = NFCNDEFPayload.wellKnownTypeURIPayload(string: "https://example.com")
  let _: NFCNDEFPayload? = NFCNDEFPayload.wellKnownTypeURIPayload(url: url)
  let _: NFCNDEFPayload? = NFCNDEFPayload.wellKnownTypeTextPayload(string: "Hello", locale: Locale(identifier: "en"))
  let _: URL? = record.wellKnownTypeURIPayload()
  let _: (String?, Locale?) = record.wellKnownTypeTextPayload()
}

/// `Self?` is the subclass.
final class Sticker: NFCNDEFPayload {
  var isLink: Bool { wellKnownTypeURIPayload() != nil }

  static func link(_ text: String) -> Sticker? { Sticker.wellKnownTypeURIPayload(string: text) }
  static func text(_ text: String) -> Sticker? {
    wellKnownTypeTextPayload(string: text, locale: Locale(identifier: "en"))
  }
}

final class Letter: NFCNDEFMessage {
  override var length: Int { super.length }
  override var records: [NFCNDEFPayload] {
    get { super.records }
    set { super.records = newValue }
  }
}

func useActivity(_ activity: NSUserActivity) {
  let _: NFCNDEFMessage = activity.ndefMessagePayload
  let _: String = activity.activityType
  let _: URL? = activity.webpageURL
  let _: Bool = activity.activityType == NSUserActivityTypeBrowsingWeb
  activity.webpageURL = nil
  activity.title = "Table 5"
  activity.userInfo = ["table": 5]
  _ = NSUserActivity(activityType: NSUserActivityTypeBrowsingWeb)
}
