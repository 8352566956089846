/** A command of cli.ts as a process of its own, with what it wrote. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

import { wayToPrograms } from './child-environment.ts'
import type { Ending } from './ending.ts'
import { endWithUs } from './stop-with-parent.ts'

interface CliOptions {
  cwd: string
  /** The whole environment: only PATH and the compile cache of our own. */
  env?: Record<string, string>
}

export interface CliProcess {
  child: ChildProcess
  /** Grows as the process writes. */
  written: { out: string; err: string }
  /** Its exit code, once it has ended and its output is read. */
  ended: Promise<number | null>
}

const cli = new URL('../../../cli.ts', import.meta.url).pathname

/** Starts `node cli.ts ...args` in `cwd`. At the end of the test it is stopped, and killed if necessary. */
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
