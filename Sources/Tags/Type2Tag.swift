/// NFC Forum Type 2 Tag Operation Specification 1.1, reading.
///
/// Pages of 4 bytes. Page 3 is the capability container, and from page 4 on lies a sequence of TLV blocks. READ gives
/// four pages, so that the first one, from page 3, brings the container and the first 12 bytes behind it.
struct Type2Tag: NDEFTag {
  func read(over channel: inout some TagChannel) throws(TagChannelError) -> TagContent {
    var memory = Memory()
    switch try Self.blocks(&memory, &channel) {
    case .success(let content): return content
    case .failure(let end):
      switch end {
      case .areaEnds: return .damaged("a TLV block is longer than the memory that the tag has for it")
      case .beyondSector: return .unsupported("the NDEF message goes beyond the first sector of the tag")
      case .shortAnswer: return .damaged("the tag answered READ with less than 16 bytes")
      }
    }
  }

  private static func blocks(
    _ memory: inout Memory, _ channel: inout some TagChannel
  ) throws(TagChannelError) -> Result<TagContent, Memory.End> {
    do throws(Memory.Failure) {
      let container = try memory.container(&channel)
      guard container[0] == 0xE1 else { return .success(.notNDEF("there is no capability container in page 3")) }
      guard container[1] >> 4 == 1 else {
        return .success(.unsupported("it is formatted for mapping version \(container[1] >> 4) of Type 2"))
      }
      guard container[3] >> 4 == 0 else { return .success(.unsupported("the tag does not let everybody read it")) }
      memory.remaining = Int(container[2]) * 8

      while memory.remaining > 0 {
        let kind = try memory.next(&channel)
        if kind == 0x00 { continue }  // NULL has no length
        if kind == 0xFE { break }  // terminator
        var length = Int(try memory.next(&channel))
        if length == 0xFF {
          length = Int(try memory.next(&channel)) << 8
          length |= Int(try memory.next(&channel))
        }
        // Before a byte of it is fetched: a length is cheap to lie about.
        guard length <= memory.remaining else { throw .ended(.areaEnds) }
        switch kind {
        case 0x01, 0x02:
          let value = try memory.take(length, &channel)
          guard value.count == 3 else { return .success(.damaged("a control TLV of \(value.count) bytes")) }
          memory.reserve(value, isLock: kind == 0x01)
        case 0x03:
          return .success(.written(try memory.take(length, &channel)))
        default:
          memory.skip(length)  // proprietary (FD), or of a later version
        }
      }
      return .success(.notNDEF("there is no NDEF TLV on the tag"))
    } catch {
      switch error {
      case .ended(let end): return .failure(end)
      case .channel(let error): throw error
      }
    }
  }
}

extension Type2Tag {
  /// The tag's memory behind page 3 in the order in which it is read, fetched four pages at a time and only when needed.
  private struct Memory {
    enum End: Error {
      /// The data area that the capability container names is at its end.
      case areaEnds
      /// Pages from 256 on need SECTOR SELECT.
      case beyondSector
      case shortAnswer
    }

    enum Failure: Error {
      case ended(End)
      case channel(TagChannelError)
    }

    private static let firstPage = 3
    /// Bytes that are left of the data area, those that are reserved not counted.
    var remaining = 0
    /// The address of the next byte, counted from page 0.
    private var address = 16
    /// The 16 bytes that were read last, and where they begin.
    private var block: (address: Int, bytes: [UInt8])?
    private var reserved: [Range<Int>] = []

    mutating func container(_ channel: inout some TagChannel) throws(Failure) -> [UInt8] {
      Array(try fetch(Self.firstPage * 4, &channel).prefix(4))
    }

    mutating func next(_ channel: inout some TagChannel) throws(Failure) -> UInt8 {
      guard remaining > 0 else { throw .ended(.areaEnds) }
      stepOverReserved()
      let bytes = try fetch(address, &channel)
      let byte = bytes[address % 4 + (address / 4 - Self.firstPage) % 4 * 4]
      advance()
      return byte
    }

    mutating func take(_ count: Int, _ channel: inout some TagChannel) throws(Failure) -> [UInt8] {
      var bytes: [UInt8] = []
      bytes.reserveCapacity(count)
      for _ in 0..<count { bytes.append(try next(&channel)) }
      return bytes
    }

    /// Passes bytes by without fetching them.
    mutating func skip(_ count: Int) {
      for _ in 0..<min(count, remaining) {
        stepOverReserved()
        advance()
      }
    }

    /// Takes note of bytes in the data area that are not data (1.1, section 2.3.2 and 2.3.3).
    mutating func reserve(_ value: [UInt8], isLock: Bool) {
      let pageSize = 1 << Int(value[2] & 0x0F)
      let start = Int(value[0] >> 4) * pageSize + Int(value[0] & 0x0F)
      let count = value[1] == 0 ? 256 : Int(value[1])
      reserved.append(start..<start + (isLock ? (count + 7) / 8 : count))
    }

    private mutating func advance() {
      address += 1
      remaining -= 1
    }

    private mutating func stepOverReserved() {
      // Each step ends behind one area, and an area that ends before the address is never entered again.
      while let area = reserved.first(where: { $0.contains(address) }) { address = area.upperBound }
    }

    private mutating func fetch(_ address: Int, _ channel: inout some TagChannel) throws(Failure) -> [UInt8] {
      let page = Self.firstPage + (address / 4 - Self.firstPage) / 4 * 4
      if let block, block.address == page { return block.bytes }
      guard page <= 255 else { throw .ended(.beyondSector) }
      let answer: [UInt8]
      do throws(TagChannelError) {
        answer = try channel.exchange([0x30, UInt8(page)])
      } catch {
        throw .channel(error)
      }
      guard answer.count >= 16 else { throw .ended(.shortAnswer) }
      block = (page, answer)
      return answer
    }
  }
}

extension Type2Tag {
  func status(over channel: inout some TagChannel) throws(TagChannelError) -> NDEFStatus {
    NDEFStatus(notSupported: TagProblem(.unsupported, "writing comes next"))
  }

  func write(_ message: [UInt8], over channel: inout some TagChannel) throws(TagWriteError) { throw .readOnly }

  func lock(over channel: inout some TagChannel) throws(TagWriteError) { throw .readOnly }
}
