/**
 * Lines are written many at a time: a system call for each would be a tenth of a short request's cost. The destination
 * can wait for more lines by itself, but with each one it measures and copies all that wait.
 */
import type { DestinationStream } from 'pino'

interface Destination extends DestinationStream {
  flush(callback?: (error?: Error) => void): void
  flushSync(): void
}

export interface GatherOptions {
  /** Characters that are collected before they are written. */
  fewCharacters: number
  /** Milliseconds after which fewer are written as well. */
  longestMs: number
}

/** What is collected goes first where the destination is flushed. */
export function gatherLines(
  destination: Destination,
  { fewCharacters, longestMs }: GatherOptions,
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
  // Also for what could not be written when it was handed over.
  setInterval(() => destination.flush(), longestMs).unref()

  return {
    write(line) {
      lines += line
      if (lines.length >= fewCharacters) handOver()
    },
  }
}
