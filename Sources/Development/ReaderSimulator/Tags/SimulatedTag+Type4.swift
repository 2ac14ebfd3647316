extension SimulatedTag {
  /// A Type 4A tag that holds an encoded NDEF message; empty for a formatted tag without one. Fails if the message does
  /// not fit, or the options contradict one another.
  package static func type4(
    message: [UInt8], uid: TagUID = .generated(), options: Type4Options = Type4Options()
  ) throws(SimulatorError) -> SimulatedTag {
    cardA(try Type4Application(message: message, options: options), uid, options)
  }

  /// A Type 4B tag that holds an encoded NDEF message; empty for a formatted tag without one. SAK and ATS in the
  /// options belong to Type A, and are not used. Fails if the message does not fit, or the options contradict one
  /// another.
  package static func type4B(
    message: [UInt8], pupi: TagPUPI = .generated(), options: Type4Options = Type4Options()
  ) throws(SimulatorError) -> SimulatedTag {
    let application = try Type4Application(message: message, options: options)
    return cardB(application, pupi, timeExtensions: options.timeExtensions)
  }

  /// A MIFARE DESFire EV1 that holds an encoded NDEF message, and also has the native commands that read it. The
  /// message is empty for a formatted card without one; the UID has 7 bytes. Fails if one of them does not fit, or the
  /// options contradict one another.
  package static func desfire(
    message: [UInt8], uid: TagUID = .generated(), options: Type4Options = Type4Options()
  ) throws(SimulatorError) -> SimulatedTag {
    guard let bytes = uid.fixedBytes, bytes.count == 7 else {
      throw SimulatorError("a DESFire that says its UID has one of 7 bytes")
    }
    let application = DESFireApplication(try Type4Application(message: message, options: options), uid: bytes)
    return cardA(application, uid, options)
  }

  /// A bank card, with a payment environment and without an NDEF application. Bank cards have a fixed or a random UID.
  package static func paymentCard(uid: TagUID = .generated()) -> SimulatedTag {
    cardA(PaymentApplication(), uid, Type4Options())
  }

  /// A bank card of Type B.
  package static func paymentCardB(pupi: TagPUPI = .generated()) -> SimulatedTag { cardB(PaymentApplication(), pupi) }

  static func cardA(_ application: any CardApplication, _ uid: TagUID, _ options: Type4Options) -> SimulatedTag {
    let card = BlockProtocolCard(application, timeExtensions: options.timeExtensions)
    return SimulatedTag(
      tag: TypeATag(
        uid: uid, application: BlockProtocolTag(card, options: options), needsAnticollision: options.needsAnticollision)
    )
  }

  // Protocol info: 106 kbit/s; frames of 64 bytes, ISO/IEC 14443-4; about 77 ms of waiting time, no CID or NAD.
  private static func cardB(
    _ application: any CardApplication, _ pupi: TagPUPI, timeExtensions: Int = 0
  ) -> SimulatedTag {
    let card = BlockProtocolCard(application, timeExtensions: timeExtensions)
    return SimulatedTag(
      tag: TypeBTag(
        pupi: pupi, applicationData: [0x00, 0x00, 0x00, 0x00], protocolInfo: [0x00, 0x51, 0x80], card: card))
  }
}
