# Sourced by Packaging/test and Packaging/test-threads: runs tests, and prints the log of every process that a failed one started.
#
#     options=(--sanitize=thread)     # for swift build and swift test
#     build_tests
#     run_beside --filter TagsTests   # at most one run beside the others, whose output comes last
#     run_tests --filter NDEFTests    # as often as needed
#     finish_tests                    # ends the script

source Packaging/pkg-config.bash
options=()
status=0
logs=$(mktemp -d) || exit
# Programs that a test runs as another user have to get through to its buses.
chmod 711 "$logs"
# What a run that was killed leaves running has the folder's name on its command line.
trap 'pkill -KILL -f "$logs/" || true; rm -rf "$logs"' EXIT
export TAGROUTE_TEST_LOGS="$logs" TMPDIR="$logs"

# Swift Testing starts every test at once. Then hundreds of processes share the processors, the user runs out of inotify
# instances (128, and every dbus-daemon has one), and what libnfc gives a chip to answer (300 ms) passes by the clock.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH="${SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH:-$((2 * $(nproc)))}"

build_tests() { swift build --build-tests "${options[@]}"; }

# A test that waits for what never comes, deaf to its time limit, ends here. An argument of a test may be a megabyte, of which the
# first bytes are enough. The build's lock lets only one run at a time.
swift_test() {
  timeout --verbose 20m swift test --skip-build --ignore-lock "${options[@]}" "$@" 2>&1 | stdbuf --output=L cut -c 1-1000
}
run_tests() { swift_test "$@" | tee --append "$logs/result" || status=$?; }
beside=
run_beside() {
  swift_test "$@" >"$logs/beside" &
  beside=$!
}

# The names of the tests that failed, and of those that had not ended when the run did. One of several words stands in quotation marks.
name='("[^"]*"|[A-Za-z0-9_]+)'
failed_tests() {
  # Without the closing line "✘ Test run with 9 tests".
  sed -nE "/✘ Test run with/d; s/^.*✘ Test $name.*\$/\\1/p" "$logs/result" | sort -u
}
unfinished_tests() {
  comm -23 \
    <(sed -nE "s/^.*◇ Test $name(\\(.*\\))? started\\.\$/\\1/p" "$logs/result" | sort -u) \
    <(sed -nE "s/^.*[✔✘➜] Test $name(\\(.*\\))? (with .* )?(passed after|failed after|skipped).*\$/\\1/p" "$logs/result" | sort -u)
}

# What failed is said last: a log reader that shows the end of a long output shows it.
finish_tests() {
  if [ -n "$beside" ]; then
    wait "$beside" || status=$?
    tee --append "$logs/result" <"$logs/beside"
  fi
  if [ "$status" != 0 ]; then
    { failed_tests; unfinished_tests; } | sort -u | while read -r test; do
      # A test with arguments may add them to its name.
      for log in "$logs/${test//[^A-Za-z0-9]/_}"[._]*.log; do
        [ -s "$log" ] || continue
        echo "--- $(basename "$log")"
        tail -n 40 "$log" | cut -c 1-400
      done
    done
    echo "=== failed"
    grep -E '✘ (Test|Suite) |error:|timeout: sending|Fatal error|WARNING: ThreadSanitizer|SUMMARY: ' "$logs/result" | tail -n 60 | cut -c 1-400
    unfinished_tests | head -n 40 | sed 's/^/had not ended: /'
    echo "exit status $status"
  fi
  exit "$status"
}
