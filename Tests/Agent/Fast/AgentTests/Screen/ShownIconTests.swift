import Routing
import Testing

@testable import Agent

/// The icon of a desktop entry that any program may have written.
struct ShownIconTests {
  private func shown(_ icon: String?) -> String {
    Application(desktopID: "x.desktop", name: "X", icon: icon, file: "/f", origin: .user).shownIcon
  }

  @Test(arguments: [
    "menu", "org.example.Menu", "menu-1_2+x", "Menü", "/usr/share/pixmaps/menu.png", "/home/a b/.icons/menu.svg",
    String(repeating: "a", count: 255), "/devices/x.png",
  ])
  func `an icon name of the theme and an icon file are shown`(icon: String) {
    #expect(shown(icon) == icon)
  }

  @Test(arguments: [
    nil, "", "http://evil.example/i.png", "https:evil", "data:image/png;base64,AAAA", "file:///etc/passwd", "//", "/",
    "../../etc/passwd", "menu/x", ".hidden", "/usr/../dev/zero", "/./dev/zero",
    "/./proc/self/fd/0", "/usr/./x", "/dev/zero", "//dev/zero", "/proc/self/fd/0", "/sys/x",
    "/dev/\u{301}/../zero", "/dev/\u{301}x",
    "a\nb", "a\u{1B}[31m", "/a\u{202E}gnp.exe", "/a\nb.png", "a b", "a\u{200B}b", ". GThemedIcon a b",
    String(repeating: "a", count: 256), "/" + String(repeating: "a", count: 4096),
  ])
  func `any other icon is replaced by the generic app icon`(icon: String?) {
    #expect(shown(icon) == "application-x-executable")
  }
}
