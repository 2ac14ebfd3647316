/// MIFARE Classic: the firmware does authentication and cipher, and takes an access for the two frames that it is.
struct MIFAREClassicFraming: ChipFraming {
  func exchange(_ command: [UInt8], with device: Device) throws(Device.Failure) -> Device.Answer {
    let answer = try device.exchange(command)
    // A key that does not fit is one of the things at which the tag falls silent.
    if case .refused(Device.authenticationError) = answer { return .refused(Device.transmissionError) }
    return answer
  }
}
