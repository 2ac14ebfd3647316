extension URI {
  /// Schemes that no tag may open, regardless of the installed applications. They run code in the application that
  /// displays them, reach local files, or name things inside one program.
  public static let forbiddenSchemes: Set<String> = [
    "about", "admin", "afc", "android-app", "archive", "blob", "burn", "cdda", "chrome", "chrome-error",
    "chrome-extension", "chrome-search", "chrome-untrusted", "computer", "content", "data", "devtools", "dns-sd",
    "edge",
    "feed", "file", "filesystem", "ghelp", "gopher", "help", "info", "intent", "jar", "javascript", "livescript",
    "localtest", "man", "mocha", "moz-extension", "moz-icon", "network", "opera", "recent", "res", "resource", "shell",
    "starred", "thismessage", "trash", "vbs", "vbscript", "view-source", "wyciwyg",
  ]
}
