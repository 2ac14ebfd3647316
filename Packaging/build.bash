# Sourced by scripts that call `swift build`.

# The debug build of all scripts. Other options compile everything again. Without debug information there is less to
# compile and to link (CONTRIBUTING.md).
debug_options=(-debug-info-format none)

# Describes libraries without -pthread: SwiftPM rejects that flag with a warning in each build, and glibc has not needed
# it since 2.34.
mkdir -p .build/pkg-config
for library in gio-unix-2.0 libpcsclite; do
  cat >".build/pkg-config/$library.pc" <<END
Name: $library
Description: $library of this system, as $(uname -m) needs it
Version: $(pkg-config --modversion $library)
Cflags: $(pkg-config --cflags-only-I $library)
Libs: $(pkg-config --libs $library)
END
done
export PKG_CONFIG_PATH=$PWD/.build/pkg-config${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
