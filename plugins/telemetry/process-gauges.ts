/** What the process takes of its machine. */
import { readdir } from 'node:fs/promises'

import type { Metrics } from './metrics.ts'

export function addProcessGauges(metrics: Metrics): void {
  metrics.gauge('process.memory.usage', () => [{ value: process.memoryUsage.rss(), labels: {} }])
  metrics.gauge('process.cpu.time', () => {
    const { user, system } = process.cpuUsage()
    return [
      { value: user / 1e6, labels: { cpu_mode: 'user' } },
      { value: system / 1e6, labels: { cpu_mode: 'system' } },
    ]
  })
  // Where there is no such folder, the gauge is left out.
  metrics.gauge('process.open_file_descriptors', async () => {
    const open = await readdir('/proc/self/fd').catch(() => undefined)
    return open ? [{ value: open.length, labels: {} }] : []
  })
}
