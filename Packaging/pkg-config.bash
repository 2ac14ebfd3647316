# Sourced by scripts that call `swift build`. Describes GIO to it without -pthread: SwiftPM rejects that flag with a
# warning in each build, and glibc has not needed it since 2.34.
export PKG_CONFIG_PATH=$PWD/.build/pkg-config${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
mkdir -p .build/pkg-config
cat >.build/pkg-config/gio-unix-2.0.pc <<END
Name: GIO
Description: gio-unix-2.0 of this system, as $(uname -m) needs it
Version: $(pkg-config --modversion gio-unix-2.0)
Cflags: $(pkg-config --cflags-only-I gio-unix-2.0)
Libs: $(pkg-config --libs gio-unix-2.0)
END
