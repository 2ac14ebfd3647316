/// Which readers and slots have an antenna. Tagroute leaves all others alone.
extension ReaderModel {
  /// Words for a slot with an antenna.
  private static let antenna: Set<String> = ["picc", "cl", "nfc", "rfid", "contactless", "cless"]
  /// Words for a slot of a security module, or of a card with contacts in a device with several slots.
  private static let module: Set<String> = ["sam", "icc", "sim"]
  private static let contacts: Set<String> = ["contact", "contacted"]
  /// Words of security keys, besides those that end with "key". Some name NFC: another reader can read them.
  private static let tokens: Set<String> = ["token", "fido", "fido2", "u2f", "epass", "epass2003"]
  /// Yubico makes no readers.
  private static let yubico: UInt16 = 0x1050

  /// Whether a reader in pcscd's list has an antenna, as far as its name tells: `ACS ACR1252 Dual Reader [ACR1252 Dual
  /// Reader PICC] 00 00`. False for the slots of security modules and contact cards.
  package static func isContactlessName(_ name: String) -> Bool {
    let slot = SlotName(name)
    guard !unusableNames.contains(where: slot.contains), !isToken(slot) else { return false }
    if let isContactless = hasAntenna(slot.interface) ?? hasAntenna(slot.friendly) { return isContactless }
    return find(readerName: name)?.slots == .single
  }

  /// Whether a USB device is a contactless reader. `names` are the names of it that are known: the one that pcscd's
  /// driver has for it, and the one that the device itself tells.
  ///
  /// It is for the decision to start pcscd. That takes the device from other programs, such as GnuPG, so a security key
  /// or a reader for contact cards alone must not cause it.
  package static func isContactlessDevice(vendor: UInt16, product: UInt16, names: [String] = []) -> Bool {
    guard vendor != yubico, !unusable.contains(Identifier(vendor, product)) else { return false }
    if find(vendor: vendor, product: product) != nil { return true }
    return names.contains { name in
      let slot = SlotName(name)
      guard !unusableNames.contains(where: slot.contains), !isToken(slot) else { return false }
      return hasAntenna(slot.interface + slot.friendly) == true || find(readerName: name) != nil
    }
  }

  /// Nil if the words do not tell. A word for a module counts if it comes last: `ACR1252 1S CL Reader SAM`.
  private static func hasAntenna(_ words: [String]) -> Bool? {
    let positive = words.lastIndex { antenna.contains($0) || isNumberWithCL($0) }
    let negative = words.lastIndex { word in
      module.contains(word) || word.hasPrefix("sam") && word.dropFirst(3).allSatisfy(\.isNumber)
    }
    if let negative, negative > positive ?? -1 { return false }
    if positive != nil { return true }
    return words.contains(where: contacts.contains) ? false : nil
  }

  /// `5422CL`: HID's word for the slot with the antenna.
  private static func isNumberWithCL(_ word: String) -> Bool {
    word.hasSuffix("cl") && !word.dropLast(2).isEmpty && word.dropLast(2).allSatisfy(\.isNumber)
  }

  private static func isToken(_ slot: SlotName) -> Bool {
    let words = slot.interface + slot.friendly
    guard !words.contains("reader") else { return false }
    return words.contains { tokens.contains($0) || $0.hasSuffix("key") && $0 != "omnikey" }
  }
}
