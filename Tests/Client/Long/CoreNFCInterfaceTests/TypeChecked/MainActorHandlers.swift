import CoreNFC

/// Like the classes of UIKit, it gives its isolation to subclasses, which do not name it.
@MainActor class Screen {
  var text = ""
}

final class TagScreen: Screen {
  private var pages: [Data] = []

  func show(_ tag: any NFCMiFareTag, _ chip: any NFCISO7816Tag, _ apdu: NFCISO7816APDU) {
    tag.sendMiFareCommand(commandPacket: Data([0x30, 0x04])) { page, error in
      self.pages.append(page)
      self.text = error?.localizedDescription ?? "\(self.pages.count) pages"
    }
    chip.sendCommand(apdu: apdu) { data, status1, _, _ in self.text = "\(data.count) bytes, \(status1)" }
  }

  func show(_ card: any NFCFeliCaTag, _ vicinity: any NFCISO15693Tag) {
    card.requestSystemCode { codes, _ in self.text = "\(codes.count) systems" }
    vicinity.stayQuiet { error in self.text = error == nil ? "quiet" : "not quiet" }
  }

  func show(_ tag: any NFCNDEFTag) {
    tag.queryNDEFStatus { status, _, _ in self.text = status == .readOnly ? "read-only" : "" }
    tag.readNDEF { message, _ in
      self.text = "\(message?.length ?? 0) bytes"
      tag.writeLock { error in self.text = error == nil ? "locked" : "not locked" }
    }
  }
}
