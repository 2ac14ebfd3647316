import NDEF
import ReaderSimulator
import TestKit
import Testing

/// `ndef-reader` with the real daemon and a simulated tag.
@Suite(.timeLimit(.minutes(5))) struct MessageReaderTests {
  @Test func `every record of a tag is printed`() async throws {
    let rig = try await AppRig()
    let records = [
      try TextRecord("Today's menu\u{1B}[31m", language: "en").record(),
      NDEFRecord(typeNameFormat: .mediaType, type: Array("image/png".utf8), payload: [1, 2, 3]),
      NDEFRecord(typeNameFormat: .external, type: Array("example.com:table".utf8), payload: [7]), .empty,
    ]
    let link = NDEFMessage.uri("https://example.com/menu")
    let message = try NDEFMessage(records: link.records + records).encoded()
    let tag = await rig.reader.place(try .type2(.ntag215, message: message))
    let before = try await rig.memory(of: tag)
    let (status, log) = try await rig.run("ndef-reader")
    #expect(status == .exited(0), "\(log)")
    #expect(
      log == [
        "record 1: link https://example.com/menu", "record 2: text (en) Today's menu.[31m",
        "record 3: media type image/png, 3 bytes", "record 4: external type example.com:table, 1 bytes",
        "record 5: another record, 0 bytes",
      ])
    #expect(try await rig.memory(of: tag) == before)
    await rig.stop()
  }

  @Test func `without a daemon the program says that there is no reader`() async throws {
    let bus = try await PrivateBus.start(starter: #function)
    let process = try ChildProcess(
      BuiltProducts.program("ndef-reader"), environment: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address, "LANG": "C.UTF-8"],
      starter: #function)
    #expect(try await process.exit() == .exited(1))
    #expect(await process.log() == ["This machine has no reader that you can use."])
  }
}
