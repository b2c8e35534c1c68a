# Sourced: how programs run that were built with sanitizers, the same for the tests and for the canaries.
#
#   . scripts/sanitizers.sh KIND      asan, tsan, or anything else: exports *SAN_OPTIONS, sets runner=(what goes in front)
export ASAN_OPTIONS="detect_leaks=1${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
export UBSAN_OPTIONS="print_stacktrace=1${UBSAN_OPTIONS:+:$UBSAN_OPTIONS}"
# A process that ends while it has threads is watched for a tenth of a second, not for a whole one: hundreds end so.
export TSAN_OPTIONS="halt_on_error=1:second_deadlock_stack=1:atexit_sleep_ms=100${TSAN_OPTIONS:+:$TSAN_OPTIONS}"
runner=()
# ThreadSanitizer of gcc 12 cannot live with much address space randomisation.
if [ "$1" = tsan ] && setarch -R true 2>/dev/null; then
  runner=(setarch -R)
fi
