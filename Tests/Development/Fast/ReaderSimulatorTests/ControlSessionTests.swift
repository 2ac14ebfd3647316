import EventLoop
import NDEF
import Rig
import Testing

@testable import ReaderSimulator

@Suite(.timeLimit(.minutes(5))) struct ControlSessionTests {
  private func session() async throws -> ControlSession { ControlSession(reader: try await .start()) }

  @Test func `a tap replaces the tags on the reader unless it is added`() async throws {
    let session = try await session()
    #expect(await session.answer(to: "tap https://example.com/").text == "ok tag 1")
    let memory = try #require(await session.reader.memory(of: TagID(number: 1)))
    #expect(try NDEFMessage(decoding: Array(memory[18..<(18 + Int(memory[17]))])) == .uri("https://example.com/"))
    #expect(await session.answer(to: "tap https://example.com/ --type 4").text == "ok tag 2")
    #expect(await session.answer(to: "tap tel:1 --add").text == "ok tag 3")
    #expect(await session.reader.tags == [TagID(number: 2), TagID(number: 3)])
    #expect(await session.answer(to: "tap https://example.com/ --type 1 --add").text == "ok tag 4")
    #expect(await session.reader.memory(of: TagID(number: 4))?.count == 120)
    #expect(await session.answer(to: "tap tel:1 --type 1 --uid 01020304").text.hasPrefix("error a Type 1 tag's UID"))
    #expect(await session.answer(to: "remove 4").text == "ok")
    #expect(await session.answer(to: "remove 2").text == "ok")
    #expect(await session.answer(to: "remove 2").text == "error remove: no tag 2 lies on the reader")
    #expect(await session.answer(to: "remove").text == "ok")
    #expect(await session.reader.tags.isEmpty)
    await session.reader.stop()
  }

  @Test func `a tag can be loaded from a file`() async throws {
    let directory = try TemporaryDirectory()
    let session = try await session()
    let message = try directory.write([0xD0, 0x00, 0x00], to: "message")
    let garbage = try directory.write([0xFF], to: "garbage")
    let memory = try directory.write(try type2(.ntag213).tag.memory, to: "memory")
    #expect(await session.answer(to: "tap --type 4 --ndef \(message)").text == "ok tag 1")
    #expect(await session.answer(to: "tap --memory \(memory)").text == "ok tag 2")
    #expect(await session.reader.memory(of: TagID(number: 2))?.count == 180)
    #expect(await session.answer(to: "tap --ndef \(garbage)").text.hasPrefix("error \(garbage): not an NDEF message"))
    #expect(await session.answer(to: "tap --ndef \(directory.file("none"))").text.contains("No such file"))
    #expect(await session.answer(to: "tap --ndef \(directory.path)").text.hasPrefix("error "))
    #expect(await session.reader.tags == [TagID(number: 2)])
    await session.reader.stop()
  }

  @Test func `an invalid command does not disturb the session`() async throws {
    let session = try await session()
    let answer = await session.answer(to: "nonsense")
    #expect(answer.text == "error nonsense: no such command; try help" && !answer.quits)
    #expect(await session.answer(to: "counters").text.hasPrefix("ok commands=0 exchanges=0 "))
    #expect(await session.answer(to: "unplug").text == "ok")
    #expect(await session.answer(to: "plug").text.hasPrefix("ok /dev/pts/"))
    #expect(await session.answer(to: "wait").text.hasPrefix("error wait: "))
    #expect(await session.answer(to: "wait 0").text.hasPrefix("error wait: "))
    #expect(await session.answer(to: "quit").quits)
    await session.reader.stop()
  }
}
