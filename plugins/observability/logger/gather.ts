/**
 * Collects log lines and writes many at a time: one system call per line would cost a tenth of a short request. The
 * buffer of the destination itself is not used: it measures and copies the whole buffer with each line.
 */
import type { DestinationStream } from 'pino'

interface Destination extends DestinationStream {
  flush(callback?: (error?: Error) => void): void
  flushSync(): void
}

interface GatherOptions {
  /** Buffered characters that trigger a write. */
  minCharacters: number
  /** Milliseconds after which the buffer is written in any case. */
  maxDelayMs: number
}

/** Buffered lines are written first when the destination is flushed. */
export function gatherLines(
  destination: Destination,
  { minCharacters, maxDelayMs }: GatherOptions,
): DestinationStream {
  const flush = destination.flush.bind(destination)
  const flushSync = destination.flushSync.bind(destination)
  let lines = ''

  function handOver(): void {
    if (lines === '') return
    const whole = lines
    lines = ''
    destination.write(whole)
  }

  destination.flush = (callback) => {
    handOver()
    flush(callback)
  }
  destination.flushSync = () => {
    handOver()
    flushSync()
  }
  // Also writes what a full destination did not accept earlier.
  setInterval(() => destination.flush(), maxDelayMs).unref()

  return {
    write(line) {
      lines += line
      if (lines.length >= minCharacters) handOver()
    },
  }
}
