/// MIFARE Classic: the firmware does authentication and cipher, and takes an access for the two frames that it is.
struct MIFAREClassicFraming: ChipFraming {
  func exchange(_ command: [UInt8], with chip: some Chip) throws(ChipFailure) -> ChipAnswer {
    let answer = try chip.exchange(command)
    // A key that does not fit is one of the things at which the tag falls silent.
    if case .wrongKey = answer { return .silence }
    return answer
  }
}
