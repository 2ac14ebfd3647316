// Modules: Names
// Sources: Development/ReaderSimulator/Replay Development/ReaderSimulator/Chip/PN532Command.swift

import Names

/// The input is a line of a trace, or a whole trace. The reader accepts or rejects it. An accepted line is the same when
/// it is written and read again. An accepted trace can be replayed to its end.
@c(LLVMFuzzerTestOneInput)
public func fuzzTrace(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  if let line = try? TraceLine.read(bytes) { check(line) }
  if let replay = try? TraceReplay(bytes, repeatsTimes: true) { finish(replay) }
  return 0
}

private func check(_ line: TraceLine) {
  // The first writing rounds times.
  let written = line.bytes
  let again = try? TraceLine.read(written)
  guard let again, again.bytes == written else {
    print("not the same when read again: \(String(decoding: written, as: UTF8.self))")
    fatalError()
  }
}

/// Sends each recorded command, and carries out each change in the slot.
private func finish(_ recording: TraceReplay) {
  var replay = recording
  var remaining = replay.remaining
  while !remaining.isEmpty {
    for case .exchange(let exchange) in remaining { _ = replay.answer(to: TraceReplay.Command(exchange)) }
    _ = (replay.takeTime(), replay.dueChange, replay.powerUp())
    guard replay.takeChange() != nil else { return }
    remaining = replay.remaining
  }
}
