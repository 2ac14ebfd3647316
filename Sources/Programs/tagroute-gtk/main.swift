import Glibc
import TagsWindow

exit(Program.run())
