import TagrouteClient
@testable import TagsPages
import Testing

struct WritingRunTests {
  private typealias Run = WritingRun<Int>
  private typealias Action = Run.Action

  private var run = Run()
  private let message: [UInt8] = [0xD0, 0x00, 0x00]

  /// A run that waits for a tag.
  private mutating func begin(_ order: WritingOrder) {
    #expect(run.handle(.ordered(order)) == [.show, .start(formats: order.formats)])
    #expect(run.handle(.activated) == [.show])
  }

  /// A tag is put on the reader, and what it holds becomes known.
  private mutating func hold(_ tag: Int, _ contents: Run.Contents) -> [Action] {
    _ = run.handle(.detected(tag, name: "tag \(tag)"))
    let first = run.handle(.roundEnded)
    return first == [.show, .examine(tag)] ? run.handle(.examined(tag, .success(contents))) : first
  }

  /// The same, for a tag that is written at once.
  private mutating func write(_ tag: Int, _ result: Result<Bool, Run.TagProblem> = .success(false)) -> [Action] {
    _ = hold(tag, .empty)
    return run.handle(.written(tag, result))
  }

  private func state(after events: [Run.Event], batch: Bool = false) -> Run.State {
    var run = run
    _ = run.handle(.ordered(WritingOrder(message: message, isBatch: batch)))
    for event in events { _ = run.handle(event) }
    return run.state
  }

  @Test(arguments: [WritingRun<Int>.Contents.empty, .blank, .message([0xD0, 0x00, 0x00]), .message([])])
  mutating func `a tag without another message is written at once`(contents: WritingRun<Int>.Contents) {
    begin(WritingOrder(message: message))
    #expect(hold(1, contents) == [.show, .write(1, message, locks: false)])
    #expect(run.handle(.written(1, .success(false))) == [.show, .close])
    #expect(run.entries == [.init(name: "tag 1", outcome: .written(isLocked: false))])
  }

  @Test(arguments: [true, false], [WritingRun<Int>.Contents.message([1, 2]), .damaged])
  mutating func `other contents are shown first`(replaces: Bool, contents: WritingRun<Int>.Contents) {
    begin(WritingOrder(message: message, locks: true))
    #expect(hold(1, contents) == [.show])
    #expect(run.state == .asking(contents))
    let actions = run.handle(.answered(replaces: replaces))
    #expect(actions == (replaces ? [.show, .write(1, message, locks: true)] : [.show, .close]))
    #expect(run.entries.map(\.outcome) == (replaces ? [] : [.kept]))
  }

  @Test mutating func `if several tags lie there, none is written`() {
    begin(WritingOrder(message: message))
    _ = run.handle(.detected(1, name: "one"))
    _ = run.handle(.detected(2, name: "two"))
    #expect(run.handle(.roundEnded) == [.show])
    #expect(run.state == .several)
    #expect(run.handle(.removed(2)) == [.show, .show, .examine(1)])
  }

  @Test mutating func `a tag is not taken before the reader has looked for others`() {
    begin(WritingOrder(message: message, isBatch: true))
    _ = write(1)
    _ = run.handle(.detected(2, name: "two"))
    #expect(run.handle(.removed(1)) == [.show])
    #expect(run.handle(.roundEnded) == [.show, .examine(2)])
  }

  @Test mutating func `a batch writes each tag once`() {
    begin(WritingOrder(message: message, isBatch: true))
    #expect(write(1) == [.show])
    #expect(run.state == .resting)
    #expect(run.handle(.removed(1)) == [.show])
    // The same tag as another object.
    _ = run.handle(.detected(7, name: "tag 1"))
    #expect(run.handle(.roundEnded) == [.show])
    #expect(run.state == .resting)
    _ = run.handle(.removed(7))
    _ = write(2, .failure(.init(.tag(.readOnly))))
    #expect(run.entries.map(\.isWritten) == [true, false])
    #expect(run.handle(.stopped) == [.show, .close])
  }

  @Test mutating func `a batch takes the tag that was put there while it wrote another`() {
    begin(WritingOrder(message: message, isBatch: true))
    _ = hold(1, .empty)
    _ = run.handle(.removed(1))
    _ = run.handle(.detected(2, name: "two"))
    _ = run.handle(.roundEnded)
    #expect(run.handle(.written(1, .success(false))) == [.show, .show, .examine(2)])
    #expect(run.entries.map(\.name) == ["tag 1"])
  }

  @Test mutating func `a batch asks once for the same message`() {
    begin(WritingOrder(message: message, isBatch: true))
    _ = hold(1, .message([1, 2]))
    _ = run.handle(.answered(replaces: true))
    _ = run.handle(.written(1, .success(false)))
    _ = run.handle(.removed(1))
    #expect(hold(2, .message([1, 2])) == [.show, .write(2, message, locks: false)])
    _ = run.handle(.written(2, .success(false)))
    _ = run.handle(.removed(2))
    #expect(hold(3, .message([1, 3])) == [.show])
  }

  @Test mutating func `a batch goes on after the time of a session, and leaves the tag that lies there alone`() {
    begin(WritingOrder(message: message, isBatch: true))
    _ = write(1, .failure(.init(.tag(.refused))))
    #expect(run.handle(.ended(.timedOut)) == [.show, .start(formats: true)])
    _ = run.handle(.activated)
    _ = run.handle(.detected(2, name: "tag 1"))
    #expect(run.handle(.roundEnded) == [.show])
    #expect(run.state == .resting)
    _ = run.handle(.removed(2))
    #expect(hold(3, .empty) == [.show, .write(3, message, locks: false)])
  }

  @Test(arguments: [ReaderSessionEnd.Reason.cancelled, .readerLost, .sessionInactive])
  mutating func `another end of the session ends a batch, also while a tag is written`(reason: ReaderSessionEnd.Reason)
  {
    begin(WritingOrder(message: message, isBatch: true))
    _ = hold(1, .empty)
    #expect(run.handle(.ended(reason)).isEmpty)
    #expect(run.handle(.written(1, .failure(.init(.tag(.tagLost))))) == [.show])
    #expect(run.state == .over(.ended(reason)))
    #expect(run.handle(.resumed) == [.show, .start(formats: true)])
    #expect(run.entries.count == 1, "the list goes on")
  }

  @Test mutating func `a tag that goes while the user decides is left as it is`() {
    begin(WritingOrder(message: message))
    _ = hold(1, .message([1, 2]))
    #expect(run.handle(.removed(1)) == [.show])
    #expect(run.state == .holding)
    #expect(run.handle(.answered(replaces: true)).isEmpty)
  }

  @Test mutating func `a tag that goes while it is read may come again`() {
    begin(WritingOrder(message: message))
    _ = run.handle(.detected(1, name: "tag 1"))
    _ = run.handle(.roundEnded)
    #expect(run.handle(.examined(1, .failure(.init(.tag(.tagLost))))) == [.show])
    _ = run.handle(.removed(1))
    #expect(hold(2, .empty) == [.show, .write(2, message, locks: false)])
  }

  @Test mutating func `the end of the session while a tag is written is that of the tag`() {
    begin(WritingOrder(message: message))
    _ = hold(1, .empty)
    #expect(run.handle(.ended(.readerLost)).isEmpty)
    #expect(run.handle(.written(1, .failure(.init(.tag(.readerLost))))) == [.show])
    #expect(run.entries.map(\.outcome) == [.failed(.tag(.readerLost))])
  }

  @Test func `how a run ends without a tag`() {
    #expect(state(after: [.notStarted(.noReader)]) == .over(.noReader))
    #expect(state(after: [.ended(.cancelled)]) == .over(.ended(.cancelled)))
    #expect(state(after: [.activated, .ended(.timedOut)]) == .over(.ended(.timedOut)))
    #expect(state(after: [.stopped]) == .over(nil))
    #expect(state(after: [.stopped, .notStarted(.noReader)]) == .over(nil))
    #expect(state(after: [.stopped, .dismissed]) == .idle)
  }

  @Test mutating func `a run that was stopped before its session closes it`() {
    _ = run.handle(.ordered(WritingOrder(message: message)))
    #expect(run.handle(.stopped) == [.show, .close])
    #expect(run.handle(.activated) == [.close])
  }

  @Test mutating func `a run is not stopped in the middle of a tag`() {
    begin(WritingOrder(message: message, isBatch: true))
    _ = hold(1, .empty)
    #expect(run.handle(.stopped) == [.show])
    #expect(run.state == .writing)
    #expect(run.handle(.written(1, .success(false))) == [.show, .close])
    #expect(run.state == .over(nil))
  }

  @Test mutating func `the former message is written back without a question`() throws {
    begin(WritingOrder(message: message))
    _ = hold(1, .message([1, 2]))
    _ = run.handle(.answered(replaces: true))
    _ = run.handle(.written(1, .success(false)))
    let order = try #require(run.orderToWriteBack)
    #expect(order.message == [1, 2])
    begin(order)
    #expect(hold(2, .message(message)) == [.show, .write(2, [1, 2], locks: false)])
  }

  @Test(arguments: [true, false]) mutating func `a locked or empty tag has nothing to write back`(isLocked: Bool) {
    begin(WritingOrder(message: message, locks: isLocked))
    _ = hold(1, isLocked ? .message([1, 2]) : .empty)
    _ = run.handle(.answered(replaces: true))
    _ = run.handle(.written(1, .success(isLocked)))
    #expect(run.orderToWriteBack == nil)
  }
}
