import Names
import Testing

@testable import CommandLineTool

struct TagValueTests {
  @Test func `hexadecimal bytes are read and printed`() {
    #expect(Hexadecimal.bytes("00ff:1A") == [0, 0xFF, 0x1A])
    #expect(Hexadecimal.text([0, 0xFF, 0x1A]) == "00FF1A")
    #expect(Hexadecimal.text(UInt16(0x72F)) == "072F")
    for wrong in ["", "0", "0g", "0x12", "é", "+1"] { #expect(Hexadecimal.bytes(wrong) == nil, "\(wrong)") }
  }

  @Test func `a command has placeholders for the IDm and the UID`() throws {
    #expect(try RawCommand("3004").bytes(idm: []) == [0x30, 4])
    #expect(try RawCommand("02idm010F09").bytes(idm: [1, 2]) == [2, 1, 2, 1, 0x0F, 9])
    #expect(try RawCommand("2220uid00").bytes(idm: [], uid: [1, 2]) == [0x22, 0x20, 1, 2, 0])
    #expect(try RawCommand("UIDIDM").bytes(idm: [1], uid: [2]) == [2, 1])
    for wrong in ["", "IDX", "3", "0xIDM", "UI", "22UI", "UIDM", "2UID0"] {
      #expect(throws: Failure.self) { try RawCommand(wrong) }
    }
  }

  /// A Type 4 tag and a FeliCa card only say that they are read-only.
  @Test func `lock promises only what the technology gives`() {
    for technology in ["type-1", "type-2", "type-5", "mifare-classic"] {
      #expect(Command.statement(technology) == "is read-only for ever", "\(technology)")
    }
    for technology in ["type-3", "type-4a", "type-4b"] {
      let statement = Command.statement(technology)
      #expect(
        statement == "says now that it is read-only, and programs for NDEF respect that", "\(technology): \(statement)")
    }
  }

  @Test func `text for the sheet has no control characters and fits`() {
    #expect(Console.forSheet("a\nb\u{202E}") == "a\\u{a}b\\u{202e}")
    let long = Console.forSheet(String(repeating: "é", count: 300))
    #expect(long.utf8.count <= 256 && long.hasSuffix("…"))
  }

  @Test func `the environment of a command names the reader`() {
    #expect(
      Command.environment(["PATH": "/bin", "LIBNFC_AUTO_SCAN": "true"], device: "pn532_uart:/dev/x") == [
        "LIBNFC_AUTO_SCAN=false", "LIBNFC_DEFAULT_DEVICE=pn532_uart:/dev/x", "PATH=/bin",
        "TAGROUTE_DEVICE=pn532_uart:/dev/x",
      ])
    #expect(
      Command.environment(["LIBNFC_DEFAULT_DEVICE": "pn532_uart:/dev/other"], device: "pcsc:Example 00 00") == [
        "LIBNFC_AUTO_SCAN=false", "TAGROUTE_DEVICE=pcsc:Example 00 00",
      ])
  }
}

/// What the answers of an ISO 15693 tag say about its chip.
@Suite struct Type5ChipTests {
  private static func information(_ text: String, _ form: Type5Information.Form = .plain) throws -> Type5Information? {
    Type5Information(try #require(Hexadecimal.bytes(text)), form)
  }

  private static func chip(_ uid: String, _ information: Type5Information? = nil) throws -> Type5Chip {
    Type5Chip(uid: try #require(Hexadecimal.bytes(uid)), information: information)
  }

  /// The answer of a tag, with the IC reference and the bytes of the memory.
  private static func reported(
    _ reference: String, memory: String = "1B03", _ form: Type5Information.Form = .plain
  ) throws -> Type5Information? {
    try information("000F" + "0605040302010000" + "0000" + memory + reference, form)
  }

  @Test(
    arguments: [
      ("E004010001020304", "NXP", "ICODE SLI"), ("E004011001020304", "NXP", "ICODE SLIX"),
      ("E004010801020304", "NXP", "ICODE SLIX2"), ("E004011801020304", "NXP", nil),
      ("E004020001020304", "NXP", "ICODE SLI-S"), ("E004021001020304", "NXP", "ICODE SLIX-S"),
      ("E004030001020304", "NXP", "ICODE SLI-L"), ("E004031001020304", "NXP", "ICODE SLIX-L"),
      ("E004500001020304", "NXP", nil), ("E007000001020304", "Texas Instruments", "Tag-it HF-I Plus"),
      ("E007810001020304", "Texas Instruments", "Tag-it HF-I Plus"),
      ("E007C00001020304", "Texas Instruments", "Tag-it HF-I Standard"),
      ("E007C50001020304", "Texas Instruments", "Tag-it HF-I Pro"), ("E007FF0001020304", "Texas Instruments", nil),
      ("E002240001020304", "STMicroelectronics", nil), ("E008010001020304", "Fujitsu", nil),
      ("E0FF010001020304", nil, nil), ("E00401", nil, nil),
    ] as [(String, String?, String?)])
  func `the UID says who made the chip, and of some chips which it is`(
    uid: String, manufacturer: String?, name: String?
  ) throws {
    let chip = try Self.chip(uid)
    #expect(chip.manufacturer == manufacturer)
    #expect(chip.name == name)
    #expect(chip.memory == nil)
  }

  @Test(
    arguments: [
      ("4E", "M24LR16E-R"), ("5A", "M24LR04E-R"), ("5E", "M24LR64E-R"), ("24", "ST25DV04K"), ("26", "ST25DV"),
      ("21", "LRI2K"), ("2A", "LRIS2K"), ("2C", "M24LR64-R"), ("40", "LRI1K"), ("44", "LRIS64K"), ("FF", nil),
    ] as [(String, String?)])
  func `the IC reference says which chip of ST it is`(reference: String, name: String?) throws {
    #expect(try Self.chip("E002000001020304", try Self.reported(reference)).name == name)
  }

  @Test func `the memory tells chips with the same IC reference apart`() throws {
    let small = try Self.reported("26", memory: "FF0103", .extended)
    let large = try Self.reported("26", memory: "FF0703", .extended)
    #expect(try Self.chip("E002260001020304", small).name == "ST25DV16K")
    #expect(try Self.chip("E002260001020304", large).name == "ST25DV64K")
  }

  @Test func `the system information has what the tag reports`() throws {
    let all = try Self.information("000F0605040302010000AA071B0301")
    #expect(all?.dsfid == 0xAA && all?.afi == 0x07 && all?.blockCount == 28 && all?.blockSize == 4)
    #expect(all?.icReference == 0x01)
    let none = try Self.information("00000605040302010000")
    #expect(
      none != nil && none?.dsfid == nil && none?.afi == nil && none?.blockCount == nil && none?.icReference == nil)
    let memory = try Self.information("00040605040302010000FF1F")
    #expect(memory?.blockCount == 256 && memory?.blockSize == 32)
    let large = try Self.information("00040605040302010000FF0703", .extended)
    #expect(large?.blockCount == 2048 && large?.blockSize == 4)
    #expect(try Self.information("00040605040302010000FF0703", .protocolExtension) == large)
    // An error, and answers that are too short.
    for wrong in ["010F", "010F0605040302010000AA071B0301", "000F06050403020100", "000F0605040302010000AA071B"] {
      #expect(try Self.information(wrong) == nil, "\(wrong)")
    }
  }

  @Test func `two chips have another memory than they report`() throws {
    let sli = try Self.chip("E004030001020304", try Self.reported("03", memory: "0703")).memory
    #expect(sli?.blockCount == 8 && sli?.blockSize == 4)
    let lri = try Self.chip("E002000001020304", try Self.reported("21", memory: "033F")).memory
    #expect(lri?.blockCount == 64 && lri?.blockSize == 4)
  }
}
