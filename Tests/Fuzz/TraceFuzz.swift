// Modules: Names

import Names

/// The input is a line of a trace. The reader accepts or rejects it. An accepted line is the same when it is written and
/// read again.
@c(LLVMFuzzerTestOneInput)
public func fuzzTrace(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  guard let line = try? TraceLine.read(bytes) else { return 0 }
  // The first writing rounds times.
  let written = line.bytes
  let again = try? TraceLine.read(written)
  guard let again, again.bytes == written else {
    print("not the same when read again: \(String(decoding: written, as: UTF8.self))")
    fatalError()
  }
  return 0
}
