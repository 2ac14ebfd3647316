/// MIFARE Classic: the firmware does authentication and cipher, and splits an access into its two frames.
package struct MIFAREClassicFraming: ChipFraming {
  package init() {}

  package func exchange(_ command: [UInt8], with chip: some Chip) throws(ChipFailure) -> ChipAnswer {
    let answer = try chip.exchange(command)
    // The tag answers a wrong key with silence, as it does other errors.
    if case .wrongKey = answer { return .silence }
    return answer
  }
}
