import NDEF

/// NFC Forum Type 4 Tag Operation Specification 2.0 and 3.0, reading.
///
/// Five APDUs for a message that fits into one answer: SELECT the NDEF application, SELECT and READ the capability
/// container, SELECT the NDEF file, and READ its length and the message at once.
struct Type4Tag: NDEFTag {
  /// What ends the reading early.
  private enum Stop: Error {
    case content(TagContent)
    case channel(TagChannelError)
  }

  /// The file that holds the message.
  private struct File {
    let identifier: [UInt8]
    /// Bytes, those of the length field included.
    let size: Int
    /// Bytes of the length field: 2, or 4 in mapping 3.0's extended form.
    let lengthSize: Int
    /// The most that one READ BINARY gives.
    let mostRead: Int
  }

  func read(over channel: inout some TagChannel) throws(TagChannelError) -> TagContent {
    do throws(Stop) {
      let application: [UInt8] = [0xD2, 0x76, 0x00, 0x00, 0x85, 0x01, 0x01]
      let selected = try send([0x00, 0xA4, 0x04, 0x00, 7] + application + [0x00], &channel)
      guard selected.isSuccess else { return .notNDEF("there is no NDEF application on the card") }
      let file = try capabilityContainer(&channel)
      guard try select(file.identifier, &channel) else { return .damaged("the NDEF file is not there") }
      return .written(try message(in: file, &channel))
    } catch {
      switch error {
      case .content(let content): return content
      case .channel(let error): throw error
      }
    }
  }

  private func capabilityContainer(_ channel: inout some TagChannel) throws(Stop) -> File {
    guard try select([0xE1, 0x03], &channel) else { throw .content(.damaged("there is no capability container")) }
    var container = try read(0, 15, &channel)
    guard container.count == 15 else { throw .content(.damaged("the capability container is cut off")) }
    guard [2, 3].contains(container[2] >> 4) else {
      throw .content(.unsupported("it is formatted for mapping version \(container[2] >> 4) of Type 4"))
    }
    let mostRead = min(integer(container[3...4]), 255)
    guard integer(container[0...1]) >= 15, mostRead >= 15 else {
      throw .content(.damaged("the capability container contradicts itself"))
    }
    let isExtended = container[7] == 0x06 && container[8] == 8
    guard isExtended || (container[7] == 0x04 && container[8] == 6) else {
      throw .content(.damaged("the capability container does not name the NDEF file"))
    }
    if isExtended { container += try read(15, 2, &channel) }
    guard container.count == (isExtended ? 17 : 15) else {
      throw .content(.damaged("the capability container is cut off"))
    }
    let identifier = integer(container[9...10])
    guard ![0x0000, 0x3F00, 0x3FFF, 0xE102, 0xE103, 0xFFFF].contains(identifier) else {
      throw .content(.damaged("the NDEF file has a reserved identifier"))
    }
    guard container[isExtended ? 15 : 13] == 0 else {
      throw .content(.unsupported("the card does not let everybody read it"))
    }
    let size = integer(isExtended ? container[11...14] : container[11...12])
    let lengthSize = isExtended ? 4 : 2
    guard size > lengthSize else { throw .content(.damaged("the NDEF file has no room for a message")) }
    return File(identifier: Array(container[9...10]), size: size, lengthSize: lengthSize, mostRead: mostRead)
  }

  private func message(in file: File, _ channel: inout some TagChannel) throws(Stop) -> [UInt8] {
    // Cards that refuse to be read behind the end of the message exist; they are asked for the length alone.
    var bytes = try read(0, min(file.mostRead, file.size), &channel)
    if bytes.count < file.lengthSize { bytes = try read(0, file.lengthSize, &channel) }
    guard bytes.count >= file.lengthSize else { throw .content(.damaged("the NDEF file cannot be read")) }
    let length = integer(bytes.prefix(file.lengthSize))
    let end = length + file.lengthSize
    guard end <= file.size else {
      throw .content(.damaged("the NDEF message is longer than the file that holds it"))
    }
    guard length <= NDEFLimits.default.messageSize else {
      throw .content(.unsupported("the NDEF message is longer than 1 MiB"))
    }
    // Fewer bytes than were asked for are allowed, but not so often that a card keeps us busy for ever.
    var shortAnswers = 0
    while bytes.count < end {
      guard bytes.count <= 0x7FFF else {
        throw .content(.unsupported("the NDEF message goes beyond the first 32 KiB of the file"))
      }
      let wanted = min(file.mostRead, end - bytes.count)
      let piece = try read(bytes.count, wanted, &channel)
      if piece.count < wanted { shortAnswers += 1 }
      guard !piece.isEmpty, shortAnswers <= 8 else { throw .content(.damaged("the NDEF file cannot be read whole")) }
      bytes += piece
    }
    return Array(bytes[file.lengthSize..<end])
  }

  // MARK: Commands (ISO/IEC 7816-4)

  private func select(_ file: [UInt8], _ channel: inout some TagChannel) throws(Stop) -> Bool {
    try send([0x00, 0xA4, 0x00, 0x0C, 0x02] + file, &channel).isSuccess
  }

  // READ BINARY of at most 255 bytes; empty where the card refuses.
  private func read(
    _ offset: Int, _ count: Int, _ channel: inout some TagChannel
  ) throws(Stop) -> [UInt8] {
    let high = UInt8(truncatingIfNeeded: offset >> 8 & 0x7F)
    let low = UInt8(truncatingIfNeeded: offset)
    let answer = try send([0x00, 0xB0, high, low, UInt8(clamping: count)], &channel)
    // 62 82: the file ended before; what there was is there.
    guard answer.isSuccess || answer.status == 0x6282 else { return [] }
    return Array(answer.data.prefix(count))
  }

  private func send(_ command: [UInt8], _ channel: inout some TagChannel) throws(Stop) -> Answer {
    do throws(TagChannelError) {
      return Answer(try channel.exchange(command))
    } catch {
      throw .channel(error)
    }
  }

  private func integer(_ bytes: ArraySlice<UInt8>) -> Int {
    bytes.reduce(0) { $0 << 8 | Int($1) }
  }

  /// An answer APDU; one too short for a status word counts as a refusal.
  private struct Answer {
    let data: ArraySlice<UInt8>
    let status: Int

    init(_ bytes: [UInt8]) {
      data = bytes.dropLast(2)
      status = bytes.count < 2 ? 0 : bytes.suffix(2).reduce(0) { $0 << 8 | Int($1) }
    }

    var isSuccess: Bool { status == 0x9000 }
  }
}

extension Type4Tag {
  func status(over channel: inout some TagChannel) throws(TagChannelError) -> NDEFStatus {
    NDEFStatus(notSupported: TagProblem(.unsupported, "writing comes next"))
  }

  func write(_ message: [UInt8], over channel: inout some TagChannel) throws(TagWriteError) { throw .readOnly }

  func lock(over channel: inout some TagChannel) throws(TagWriteError) { throw .readOnly }
}
