import Testing

@testable import ReaderSimulator

@Suite struct TypeATagTests {
  private let driver = ChipDriver()

  @Test(arguments: [[0x01, 0x02, 0x03, 0x04], uid7, [0x04, 1, 2, 3, 4, 5, 6, 7, 8, 9]] as [[UInt8]])
  func `a tag with a UID of any length is found`(uid: [UInt8]) throws {
    _ = driver.place(try .type4(message: [], uid: .fixed(uid)))
    let answer = try #require(driver.answer(select))
    let expected: [UInt8] = [0x01, 0x01, 0x03, 0x44, 0x20, UInt8(uid.count)] + uid
    #expect(Array(answer.prefix(6 + uid.count)) == expected)
    #expect(answer.dropFirst(6 + uid.count) == [0x06, 0x75, 0x77, 0x81, 0x02, 0x80])
  }

  @Test func `a tag that was left active misses one request`() throws {
    _ = driver.place(try type2())
    _ = driver.send(oneRequest)
    #expect(driver.answer(select)?.first == 1)
    #expect(driver.answer(select) == [0])
    #expect(driver.answer(select)?.first == 1)
  }

  @Test(arguments: [[0x44, 0x00], [0x52, 0x00], [0x32, 0x01, 0x00]] as [[UInt8]])
  func `an ISO-DEP tag is found again after it is deselected or loses its power`(command: [UInt8]) throws {
    _ = driver.place(try .type4(message: []))
    _ = driver.send(oneRequest)
    #expect(driver.answer(select)?.first == 1)
    #expect(driver.answer(select) == [0])
    #expect(driver.answer(select) == [0])
    // The failed select made the chip forget the tag. Now only switching the field off helps.
    _ = driver.send([0x32, 0x01, 0x00])
    #expect(driver.answer(select)?.first == 1)
    _ = driver.send(command)
    #expect(driver.answer(select)?.first == 1)
  }

  @Test func `a random UID is new each time the field comes on`() throws {
    _ = driver.place(try .type4(message: [], uid: .random))
    var uids: Set<[UInt8]> = []
    for _ in 0..<8 {
      let answer = try #require(driver.answer(select))
      #expect(answer[5] == 4 && answer[6] == 0x08)
      uids.insert(Array(answer[6..<10]))
      _ = driver.send([0x32, 0x01, 0x00])
    }
    #expect(uids.count > 1)
  }

  @Test func `two tags are found and both can be read`() throws {
    _ = driver.place(try type2(.ntag215, [0xD1, 0x01, 0x01, 0x55, 0xAA]))
    _ = driver.place(
      try .type2(.ntag213, message: [0xD1, 0x01, 0x01, 0x55, 0xBB], uid: .fixed([0x04, 1, 2, 3, 4, 5, 6])))
    let answer = try #require(driver.answer([0x4A, 0x02, 0x00]))
    #expect(answer[0] == 2 && answer.count == 1 + 2 * 12)
    var payloads: Set<UInt8> = []
    for number: UInt8 in [1, 2, 1] {
      let page = try #require(driver.answer([0x40, number, 0x30, 0x04]))
      #expect(page.count == 17 && page[0] == 0)
      payloads.insert(page[7])
    }
    #expect(payloads == [0xAA, 0xBB])
    #expect(driver.answer([0x04])?[2] == 2)
  }

  @Test func `a tag is found by its UID`() throws {
    _ = driver.send(oneRequest)
    _ = driver.place(try type2())
    _ = driver.place(try .type2(.ntag213, message: [], uid: .fixed([0x04, 1, 2, 3, 4, 5, 6])))
    #expect(driver.answer(select + [0x88] + uid7)?.dropFirst(6) == uid7[...])
    _ = driver.send([0x32, 0x01, 0x00])
    #expect(driver.answer(select + [0x01, 0x02, 0x03, 0x04]) == [0])
  }

  @Test func `the host can run the anticollision itself`() throws {
    _ = driver.place(try type2())
    _ = driver.send([0x32, 0x01, 0x01])
    // No CRC in either direction, and seven bits.
    _ = driver.send([0x08, 0x63, 0x02, 0x00, 0x63, 0x03, 0x00, 0x63, 0x3D, 0x07])
    #expect(driver.answer([0x42, 0x52]) == [0x00, 0x44, 0x00])
    _ = driver.send([0x08, 0x63, 0x3D, 0x00])
    #expect(driver.answer([0x42, 0x93, 0x20]) == [0x00, 0x88, 0x04, 0x11, 0x22, 0x88 ^ 0x04 ^ 0x11 ^ 0x22])
    #expect(driver.answer([0x42, 0x50, 0x00, 0x57, 0xCD]) == [0x01])
  }
}
