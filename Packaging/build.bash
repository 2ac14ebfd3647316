# Sourced by scripts that call `swift build`.

# The debug build of all scripts. Other options compile everything again. Without debug information there is less to
# compile and to link (CONTRIBUTING.md).
debug_options=(-debug-info-format none)

# `tagroute-bench` builds the other programs with the same options.
export TAGROUTE_BUILD_OPTIONS="${debug_options[*]}"

# Call this after the packages are installed and before the first `swift build`. Describes libraries without -pthread and
# options of the processor: SwiftPM rejects these flags with a warning in each build, and glibc has not needed the first
# since 2.34.
describe_libraries() {
  local folder=$PWD/.build/pkg-config library version include link
  mkdir -p "$folder"
  # Without the result of an earlier call.
  local others=${PKG_CONFIG_PATH-}
  others=${others#"$folder"} others=${others#:}
  export PKG_CONFIG_PATH=$others
  for library in gio-unix-2.0 libadwaita-1 libpcsclite; do
    # Only the window needs libadwaita.
    pkg-config --exists $library || continue
    version=$(pkg-config --modversion $library)
    include=$(pkg-config --cflags-only-I $library)
    link=$(pkg-config --libs $library)
    cat >"$folder/$library.pc" <<END
Name: $library
Description: $library of this system, as $(uname -m) needs it
Version: $version
Cflags: $include
Libs: $link
END
  done
  PKG_CONFIG_PATH=$folder${others:+:$others}
}
