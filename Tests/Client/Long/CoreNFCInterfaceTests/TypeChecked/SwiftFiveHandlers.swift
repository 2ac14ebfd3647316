import CoreNFC

// Sources from before Swift 6. On iOS, the compiler does not check what their handlers capture.

final class VariableCapturer {
  func readPages(_ tag: any NFCMiFareTag) {
    var pages: [Data] = []
    tag.sendMiFareCommand(commandPacket: Data([0x30, 0x04])) { page, error in
      pages.append(page)
      guard error == nil else { return print(pages.count) }
      tag.sendMiFareCommand(commandPacket: Data([0x30, 0x08])) { page, _ in
        pages.append(page)
        print(pages.count)
      }
    }
  }

  func readMessages(_ tag: any NFCNDEFTag) {
    var lengths: [Int] = []
    tag.queryNDEFStatus { _, capacity, _ in lengths.append(capacity) }
    tag.readNDEF { message, _ in
      lengths.append(message?.length ?? 0)
      print(lengths)
    }
    tag.writeNDEF(NFCNDEFMessage(records: [])) { error in lengths.append(error == nil ? 0 : 1) }
    tag.writeLock { error in lengths.append(error == nil ? 0 : 1) }
  }

  func readCards(_ chip: any NFCISO7816Tag, _ card: any NFCFeliCaTag, _ vicinity: any NFCISO15693Tag) {
    var answers: [Data] = []
    let apdu = NFCISO7816APDU(
      instructionClass: 0, instructionCode: 0xB0, p1Parameter: 0, p2Parameter: 0, data: Data(),
      expectedResponseLength: 16)
    chip.sendCommand(apdu: apdu) { data, _, _, _ in answers.append(data) }
    card.readWithoutEncryption(serviceCodeList: [Data([0x0F, 0x09])], blockList: [Data([0x80, 0])]) {
      _, _, blocks, _ in
      answers += blocks
      print(answers.count)
    }
    vicinity.readSingleBlock(requestFlags: .highDataRate, blockNumber: 0) { (block: Data, _: (any Error)?) in
      answers.append(block)
    }
    vicinity.challenge(requestFlags: .highDataRate, cryptoSuiteIdentifier: 0, message: Data()) { error in
      answers.append(Data([error == nil ? 0 : 1]))
    }
  }
}
