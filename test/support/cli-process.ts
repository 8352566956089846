/** A command of cli.ts as a process of its own, with what it wrote. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

import { endWithUs } from './end-with-us.ts'
import type { Ending } from './ending.ts'
import { wayToPrograms } from './way-to-programs.ts'

export interface CliOptions {
  cwd: string
  /** All there is: nothing of our own environment but the way to programs and to what is compiled already. */
  env?: Record<string, string>
}

export interface CliProcess {
  child: ChildProcess
  /** Grows as the process writes. */
  written: { out: string; err: string }
  /** Its exit code, once it has ended and all it wrote is read. */
  ended: Promise<number | null>
}

const cli = new URL('../../cli.ts', import.meta.url).pathname

/** Starts `node cli.ts ...args` in `cwd`. When the test ends it is told to stop, and killed if it does not. */
export function startCli(t: Ending, args: string[], { cwd, env = {} }: CliOptions): CliProcess {
  const child = spawn(process.execPath, [cli, ...args], {
    cwd,
    env: { ...wayToPrograms, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  endWithUs(child)
  const written = { out: '', err: '' }
  for (const [name, stream] of [['out', child.stdout] as const, ['err', child.stderr] as const]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      written[name] += text
    })
  }
  const ended = once(child, 'close').then(([code]) => code as number | null)
  t.after(async () => {
    child.kill('SIGINT')
    const killer = setTimeout(() => child.kill('SIGKILL'), 20_000)
    await ended
    clearTimeout(killer)
  })
  return { child, written, ended }
}
