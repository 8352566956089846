/** Resource usage of the process. */
import { readdir } from 'node:fs/promises'

import type { Metrics } from './metrics.ts'

export function addProcessGauges(metrics: Metrics): void {
  metrics.gauge('process.memory.usage', () => [{ value: process.memoryUsage.rss(), labels: {} }])
  metrics.gauge('process.cpu.time', () => {
    const { user, system } = process.cpuUsage()
    return [
      { value: user / 1e6, labels: { 'cpu.mode': 'user' } },
      { value: system / 1e6, labels: { 'cpu.mode': 'system' } },
    ]
  })
  // Skipped where this folder does not exist.
  metrics.gauge('process.open_file_descriptor.count', async () => {
    const open = await readdir('/proc/self/fd').catch(() => undefined)
    return open ? [{ value: open.length, labels: {} }] : []
  })
}
