import CoreNFC

// For `tagroute-bench core-nfc`: the smallest program that uses Core NFC. `availability-client` asks the same.
print(NFCNDEFReaderSession.readingAvailable)
