import Foundation
import Names
import ReaderProtocol
import Rig
import Tags
import Testing

@testable import PCSCReader
@testable import ReaderKit
@testable import ReaderModels
@testable import ReaderSimulator

/// What others have published of real readers and tags, as traces. The answers are as published. A command has the form
/// in which Tagroute sends it, if other programs send it in another one.
enum Capture {
  static let folder = #filePath.split(separator: "/").dropLast().map { "/\($0)" }.joined() + "/Traces"

  /// The recorded reader of a file, by its name without its ending.
  static func replay(_ name: String) throws -> TraceReplay {
    try TraceReplay(Array(Data(contentsOf: URL(filePath: "\(folder)/\(name).jsonl"))))
  }

  static var files: Set<String> {
    get throws {
      let files = try FileManager.default.subpathsOfDirectory(atPath: folder)
      return Set(files.filter { $0.hasSuffix(".jsonl") }.map { String($0.dropLast(6)) })
    }
  }

  /// The names of all publications that we know.
  static var published: [String] {
    get throws {
      try String(contentsOfFile: "\(folder)/published.txt", encoding: .utf8).split(separator: "\n").map(String.init)
    }
  }

  /// Publications that no file repeats, with the reason.
  static let notConverted: [String: String] = [
    "pn533/rcs956-resetmode": "libnfc's driver fails while it opens the reader, before it sends this chip a command",
    "acr122u-libnfc/clone-rf1258": "it names programs and no frames",
    "acr122u-libnfc/poll-rhythm": "the frames are on the air",
    "acr122u-pcscd/spurious-slot-events": "pcscd reports none of them to its clients",
    "acr122u-pcscd/ghost-after-removal": "the commands are not given",
    "acr122u-pcscd/stuck-after-refusal": "Tagroute reads the pages of this reader's tags by its chip, not by FF B0",
    "acs-pcsc/acr1251-linux": "it gives a name and no frames",
    "acs-pcsc/acr1552u-transparent": "the answers are not given in full",
    "other-pcsc/utrust3700-init": "the driver fails below pcscd",
    "other-pcsc/omnikey5422-names": "it gives names and no frames",
    "other-pcsc/utrust4701-names": "it gives names and no frames",
    "other-pcsc/broadcom-58200": "it gives no frames",
    "other-pcsc/r502-oem": "it gives a name and no frames",
    "tags/icode-slix2": "the frames are on the air",
    "tags/classic-timing": "the frames are on the air",
  ]
}

@Suite struct CaptureTests {
  @Test func `each publication is in a table, or has a reason not to be`() throws {
    let used = ChipCapture.allCases.map(\.rawValue) + CardCapture.allCases.map(\.rawValue)
    #expect(try Capture.files == Set(used))
    #expect(try Capture.published == (used + Capture.notConverted.keys).sorted())
  }
}

/// What an attempt to read a tag ends with.
func content<Channel: TagChannel>(of tag: TagActivation, over channel: inout Channel) -> TagReport.Content {
  do throws(TagChannelError) {
    return Reading(try tag.readNDEF(over: &channel)).finalContent()
  } catch {
    return Reading(failure: error).finalContent()
  }
}

extension TagReport.Content {
  /// Why there is no message; empty if there is one.
  var reason: String {
    switch self {
    case .message: ""
    case .bare(let reason), .damaged(let reason, _), .problem(let reason): reason
    }
  }
}

/// The slot of a recorded reader, without pcscd. A card that the trace does not have may be put into it.
///
/// A class, so that the lines that were matched are known after a link is gone.
final class RecordedSlot: CardConnection {
  struct NoCard: Error {}

  var slot: SimulatedSlot
  /// pcscd's name of the reader.
  let name: String

  init(_ recording: TraceReplay, _ model: CardReaderModel? = nil) {
    name = recording.readerName ?? ""
    slot = SimulatedSlot(
      id: CardSlotID(number: 0), reader: CardReaderID(number: 0), model: model ?? .recorded(as: name),
      kind: .contactless)
    slot.recording = recording
  }

  func insert(_ tag: SimulatedTag) throws {
    slot.insert(SimulatedCard(tag), as: TagID(number: 1))
    slot.look()
    guard slot.powerUp() != nil else { throw NoCard() }
  }

  /// Waits for the next recorded card, and gives it power.
  func next() throws -> [UInt8] {
    repeat { guard slot.followRecording() else { throw NoCard() } } while slot.recording?.card == nil
    guard let answer = slot.powerUp() else { throw NoCard() }
    return answer
  }

  /// What the trace has and nobody has asked for.
  var remaining: [TraceLine.Event] { slot.recording?.remaining ?? [] }

  /// A link as the reader program makes it.
  func link() -> CardLink<RecordedSlot> { CardLink(self, model: ReaderModel.find(readerName: name) ?? .generic) }

  func transmit(_ command: [UInt8]) throws(CardFailure) -> [UInt8] {
    let answer = slot.transmit(command)
    switch answer.response {
    case .success: return answer.data
    case .cardAbsent: throw .removed
    default: throw .exchange("the exchange with the card failed")
    }
  }

  func reset() throws(CardFailure) {
    slot.powerDown()
    guard slot.powerUp() != nil else { throw .removed }
  }
}
