/** Loaded into a measured server (`--import`): reports its event loop delay to this run. */
import { createHistogram } from 'node:perf_hooks'

/** Milliseconds between two samples; the lateness of a sample is the delay. */
const interval = 10

/** Microseconds. */
let delays = createHistogram()
let timer: NodeJS.Timeout | undefined
let last = 0

process.on('message', (command: unknown) => {
  if (command === 'forget') delays = createHistogram()
  if (command === 'begin') begin()
  if (command === 'end') end()
})
// A run that has ended must not keep the server from exiting.
process.channel?.unref()

function begin(): void {
  last = performance.now()
  timer = setInterval(look, interval)
}

function look(): void {
  const now = performance.now()
  // A histogram starts at 1.
  delays.record(Math.max(1, Math.round((now - last - interval) * 1000)))
  last = now
}

function end(): void {
  clearInterval(timer)
  process.send?.({ loopDelayMs: delays.percentile(99) / 1000 })
}
