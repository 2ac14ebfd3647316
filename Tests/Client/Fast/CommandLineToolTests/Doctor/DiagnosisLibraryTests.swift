import Testing

@testable import CommandLineTool

/// What `tagroute doctor` reports if the dynamic linker cannot load `tagroute-reader`, and which packages of the
/// distribution it names.
@Suite struct DiagnosisLibraryTests {
  private static let program = "/usr/libexec/tagroute-reader"
  private static let missing = "cannot open shared object file: No such file or directory"
  private static func loading(_ library: String, _ problem: String = missing) -> String {
    "\(program): error while loading shared libraries: \(library): \(problem)"
  }

  private func remedy(_ line: String, on release: String) -> Remedy? {
    Seen.wrong {
      $0.setup = Setup(folder: "/usr/bin", hasDaemon: true, release: "ID=\(release)\n")
      $0.readerProgram = .isNotLinked(line)
    }.first { $0.subject == .reader }?.remedy
  }

  static let packages: [(library: String, apt: String, dnf: String, zypper: String, pacman: String)] = [
    ("libpcsclite.so.1", "libpcsclite1", "pcsc-lite-libs", "libpcsclite1", "pcsclite"),
    ("libnfc.so.6", "libnfc6", "libnfc", "libnfc6", "libnfc"),
    ("libseccomp.so.2", "libseccomp2", "libseccomp", "libseccomp2", "libseccomp"),
    ("libusb-0.1.so.4", "libusb-0.1-4", "libusb-compat-0.1", "libusb-0_1-4", "libusb-compat"),
    ("libusb-1.0.so.0", "libusb-1.0-0", "libusb1", "libusb-1_0-0", "libusb"),
  ]

  @Test(arguments: packages) func `the remedy for a missing library installs or reinstalls its package`(
    library: String, apt: String, dnf: String, zypper: String, pacman: String
  ) {
    for line in [Self.loading(library), Self.loading("/lib/x86_64-linux-gnu/\(library)", "file too short")] {
      #expect(remedy(line, on: "debian")?.command == "sudo apt-get install --reinstall \(apt)")
      #expect(remedy(line, on: "fedora")?.command == "sudo dnf reinstall \(dnf) || sudo dnf install \(dnf)")
      #expect(remedy(line, on: "suse")?.command == "sudo zypper install --force \(zypper)")
      #expect(remedy(line, on: "arch")?.command == "sudo pacman --sync \(pacman)")
      #expect(remedy(line, on: "nobodys")?.text.contains(library) == true)
    }
  }

  @Test(arguments: [
    loading("libswiftCore.so"), loading("libnfcfake.so.1"), loading("libc.so.6"), loading(""),
    "\(program): symbol lookup error: \(program): undefined symbol: nfc_init",
    "\(program): symbol lookup error: /lib/x86_64-linux-gnu/libnfc.so.6: undefined symbol: usb_init",
    "a library is missing", "libnfc.so.6: not found",
  ])
  func `the remedy for any other library or a missing symbol reinstalls Tagroute`(line: String) {
    #expect(remedy(line, on: "debian")?.command == "sudo apt-get install --reinstall tagroute")
  }

  @Test func `the message of the linker is quoted`() {
    let findings = Seen.wrong { $0.readerProgram = .isNotLinked(Self.loading("libnfc.so.6")) }
    #expect(
      findings.first?.text
        == "tagroute-reader, which opens readers, does not start (\(Self.loading("libnfc.so.6")))")
  }

  @Test func `the remedy for airplane mode names the package of rfkill and the other ways`() {
    func remedy(_ release: String) -> Remedy {
      Setup(folder: nil, hasDaemon: true, release: "ID=\(release)\n").endingAirplaneMode
    }
    for (release, package) in [
      ("debian", "rfkill"), ("fedora", "util-linux"), ("arch", "util-linux"), ("nobodys", "rfkill or util-linux"),
    ] {
      #expect(remedy(release).command == "sudo rfkill unblock all")
      #expect(
        remedy(release).advice
          == "from the package \(package); or turn it off in the desktop's settings or with the hardware switch")
    }
  }
}
