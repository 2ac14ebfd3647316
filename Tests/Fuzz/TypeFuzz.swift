// Modules: Names NDEF UniversalLinks Routing
// Libraries: libidn2 libpsl

import NDEF
import Routing

/// The input is a message, or else the type of one record. Each type is refused, or read in a spelling that is read as
/// the same type again. What a message may quote is short and printable. A decision about a record that no app takes
/// names no app. The name of a Wi-Fi network is short and shows each of its bytes.
@c(LLVMFuzzerTestOneInput)
public func fuzzType(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = Array(UnsafeBufferPointer(start: start, count: count))
  let formats: [TypeNameFormat] = [.mediaType, .external]
  var message = NDEFMessage(
    records: formats.map { NDEFRecord(typeNameFormat: $0, type: Array(input.prefix(255))) })
  if let decoded = try? NDEFMessage(decoding: input) { message = decoded }
  for record in message.records {
    guard let type = RecordType(record) else { continue }
    let again = RecordType(
      NDEFRecord(typeNameFormat: record.typeNameFormat, type: Array(type.description.utf8)))
    require(again == type, "a type is the same when read again: \(type)")
    require(type.description.utf8.count <= 255, "a type is short")
    for claim in type.claims {
      require(claim.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "a claim is printable: \(claim)")
      let isAndroids = claim == "android.com:pkg"
      require(isAndroids || HandlerChoices.claim(claim) == claim, "a claim is read as itself: \(claim)")
    }
  }
  let route = Registry().route(for: message)
  require(route.handler == nil && route.kind != .record, "no app is decided")
  let isUsable = route.network.map { $0.obstacle == nil } ?? false
  require((route.kind == .wifi) == isUsable, "only a network that can be joined is offered")
  if let network = route.network {
    require((1...128).contains(network.name.unicodeScalars.count), "a name is short: \(network.name)")
    require(
      network.name.unicodeScalars.allSatisfy { $0 != "\"" && $0.properties.generalCategory != .control },
      "a name is one line: \(network.name)")
  }
  if let record = route.record {
    require(record.payload(in: message) != nil, "the record is in the message")
    require(route.reason.utf8.count < 500, "a reason is short")
  }
  return 0
}

/// Ends the process, which the fuzzer reports as a failure.
private func require(_ condition: Bool, _ what: @autoclosure () -> String) {
  if !condition { fatalError("does not hold: " + what()) }
}
