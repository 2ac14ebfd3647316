import CGTK
import CGTKShims
import Dispatch
import Glibc
import Localization

/// The program `tagroute-gtk`.
public enum Program {
  /// Shows the window. Returns the exit code when it is closed.
  public static func run() -> Int32 {
    chooseRenderer()
    setlocale(LC_ALL, "")
    Translation.start()
    _ = tags_attach_main_queue()
    return Application().run()
  }

  /// A form with a list needs no GPU. Without one, GTK draws with OpenGL in software: slower, and with a hundred
  /// megabytes of Mesa and LLVM. The user's own choice stays.
  private static func chooseRenderer() {
    setenv("GSK_RENDERER", "cairo", 0)
    // GTK opens OpenGL even if it does not use it. The name of the option is another one from 4.16 on.
    setenv("GDK_DEBUG", "gl-disable", 0)
    setenv("GDK_DISABLE", "gl,vulkan", 0)
  }
}
