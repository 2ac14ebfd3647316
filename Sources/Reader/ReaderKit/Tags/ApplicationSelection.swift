package import ReaderProtocol

/// Selecting an application of an ISO-DEP card.
package enum ApplicationSelection {
  /// SELECT by name (ISO/IEC 7816-4, 11.2.2).
  package static func command(_ application: [UInt8]) -> [UInt8] {
    [0x00, 0xA4, 0x04, 0x00, UInt8(truncatingIfNeeded: application.count)] + application + [0x00]
  }

  /// Whether the card has selected the application.
  package static func isAccepted(_ answer: [UInt8]) -> Bool { answer.suffix(2) == [0x90, 0x00] }
}

extension ReaderSessionOptions {
  /// The application that a reported card should have selected.
  package func application(of tag: SessionTag?) -> [UInt8]? {
    guard let index = tag?.initialApplication, applicationIdentifiers.indices.contains(index) else { return nil }
    return applicationIdentifiers[index]
  }
}
