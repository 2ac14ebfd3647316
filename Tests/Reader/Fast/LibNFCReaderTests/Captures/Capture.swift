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

/// What others have published of real readers and tags, as traces.
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

  /// Publications that no file repeats, with the reason.
  static let notConverted: [String: String] = [
    "pn533/rcs956-resetmode": "the USB device fails below libnfc",
    "acr122u-libnfc/clone-rf1258": "it names programs and no frames",
    "acr122u-libnfc/poll-rhythm": "the frames are on the air",
    "acr122u-pcscd/spurious-slot-events": "pcscd reports none of them to its clients",
    "acr122u-pcscd/ghost-after-removal": "the commands are not given",
    "acs-pcsc/acr1251-linux": "it gives a name and no frames",
    "acs-pcsc/acr1552u-transparent": "the answers are not given in full",
    "other-pcsc/utrust3700-init": "the driver fails below pcscd",
    "other-pcsc/omnikey5422-names": "it gives names and no frames",
    "other-pcsc/utrust4701-names": "it gives names and no frames",
    "other-pcsc/broadcom-58200": "it gives no frames",
    "other-pcsc/sdk-chain": "the answer is not given",
    "other-pcsc/r502-oem": "it gives a name and no frames",
    "tags/octopus-212": "the answer is not given",
    "tags/icode-slix2": "the frames are on the air",
    "tags/t4-write-access-80": "it gives one byte and no frames",
    "tags/classic-timing": "the frames are on the air",
  ]
}

@Suite struct CaptureTests {
  @Test func `each capture is in a table, or has a reason not to be`() throws {
    let used = Set(ChipCapture.allCases.map(\.rawValue) + CardCapture.allCases.map(\.rawValue))
    #expect(try Capture.files == used)
    #expect(used.isDisjoint(with: Capture.notConverted.keys))
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
struct RecordedSlot: CardConnection {
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

  mutating func insert(_ tag: SimulatedTag) throws {
    slot.insert(SimulatedCard(tag), as: TagID(number: 1))
    guard slot.powerUp() != nil else { throw NoCard() }
  }

  /// Waits for the next recorded card, and gives it power.
  mutating func next() throws -> [UInt8] {
    repeat { guard slot.followRecording() else { throw NoCard() } } while slot.recording?.card == nil
    guard let answer = slot.powerUp() else { throw NoCard() }
    return answer
  }

  /// A link as the reader program makes it.
  func link() -> CardLink<RecordedSlot> { CardLink(self, model: ReaderModel.find(readerName: name) ?? .generic) }

  mutating func transmit(_ command: [UInt8]) throws(CardFailure) -> [UInt8] {
    let answer = slot.transmit(command)
    switch answer.response {
    case .success: return answer.data
    case .cardAbsent: throw .removed
    default: throw .exchange("the exchange with the card failed")
    }
  }

  mutating func reset() throws(CardFailure) {
    slot.powerDown()
    guard slot.powerUp() != nil else { throw .removed }
  }
}
