/** The processes of a run: servers, and sinks for their emails and messages. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { open, readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { Rejected } from '../core/rejected.ts'
import { createLoopProbe, type LoopProbe } from './loop-probe.ts'

export interface RunningServer {
  url: string
  pid: number
  loop: LoopProbe
}

interface ServerProgram {
  /** The file and its arguments. */
  program: readonly string[]
  /** With `--import` of the loop reporter. */
  nodeOptions: readonly string[]
  /** Its output; a file, because writing the log is part of a request's cost. */
  logFile: string
  /** GET of this path succeeds when it is up. */
  healthPath: string
}

const bench = join(import.meta.dirname, '..')
/** Loaded with `node --import` into every measured server. */
export const loopReporter = join(import.meta.dirname, 'loop-reporter.ts')

/** Starts a sink; resolves to its port. */
export async function startSink(
  started: AsyncDisposableStack,
  program: string,
  ...args: string[]
): Promise<number> {
  const child = spawn(process.execPath, [join(bench, program), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  endWithParent(started, child)
  const [line] = await once(child.stdout, 'data')
  return Number(line)
}

/** Starts a server and waits until it responds. Throws with its log when it does not. */
export async function startServer(
  started: AsyncDisposableStack,
  { program, nodeOptions, logFile, healthPath }: ServerProgram,
  env: Record<string, string> & { PORT: string },
): Promise<RunningServer> {
  const log = await open(logFile, 'w')
  const child = spawn(process.execPath, [...nodeOptions, ...program], {
    // A folder without an .env file, which would change what is measured.
    cwd: dirname(logFile),
    env,
    stdio: ['ignore', log.fd, log.fd, 'ipc'],
  })
  endWithParent(started, child)
  await log.close()
  const url = `http://127.0.0.1:${env.PORT}`
  for (let tries = 0; tries < 300 && child.exitCode === null; tries++) {
    if (child.pid !== undefined && (await responses(`${url}${healthPath}`))) {
      return { url, pid: child.pid, loop: createLoopProbe(child) }
    }
    await sleep(100)
  }
  throw new Rejected(`The server did not start:\n${await readFile(logFile, 'utf8')}`)
}

async function responses(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok
  } catch {
    return false
  }
}

/** Also when an error ends this process early. */
function endWithParent(started: AsyncDisposableStack, child: ChildProcess): void {
  const kill = () => child.kill()
  process.once('exit', kill)
  started.defer(async () => {
    process.off('exit', kill)
    if (child.exitCode !== null || child.signalCode !== null) return
    const exit = once(child, 'exit')
    kill()
    await exit
  })
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  if (address === null || typeof address === 'string') throw new Error('No port is free')
  return address.port
}
