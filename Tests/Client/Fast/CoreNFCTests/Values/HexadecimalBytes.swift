/// Bytes from hexadecimal digits. Spaces and line breaks are ignored.
func hexadecimalBytes(_ digits: String) -> [UInt8] {
  let values = digits.compactMap(\.hexDigitValue)
  precondition(values.count.isMultiple(of: 2), "odd number of digits: \(digits)")
  return stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
}
