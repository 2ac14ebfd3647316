/// The bytes of a text with hexadecimal bytes: "FF CA 00".
func hex(_ text: String) -> [UInt8] { text.split(separator: " ").compactMap { UInt8($0, radix: 16) } }
