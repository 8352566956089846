/** `npm run dev` as a process of its own, in a folder of its own. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'

import { wayToPrograms } from './child-environment.ts'
import type { Ending } from './ending.ts'
import { freePort } from './free-port.ts'
import { endWithUs } from './stop-with-parent.ts'

interface DevOptions {
  env?: Record<string, string>
  /** The operating system's user. */
  uid?: number
}

/** From its output when it is ready. */
const lastLine = 'Ctrl-C stops everything'

const cli = new URL('../../../cli.ts', import.meta.url).pathname

/** An empty folder to start in, deleted when the test ends. */
export function newProject(t: Ending): string {
  const folder = mkdtempSync(join(tmpdir(), 'postern-dev-'))
  // As root, Postgres runs as another user and needs access.
  chmodSync(folder, 0o711)
  t.after(async () => {
    const data = join(folder, '.data', 'postgres')
    if (existsSync(data)) rmSync(realpathSync(data), { recursive: true, force: true })
    rmSync(folder, { recursive: true, force: true })
  })
  return folder
}

/** Starts it; `started` resolves with its output when ready, `ended` when the process has exited. */
export async function startDev(t: Ending, folder: string, { env = {}, uid }: DevOptions = {}) {
  const port = env.PORT ?? String(await freePort())
  const child = spawn(process.execPath, [cli, 'dev'], {
    cwd: folder,
    env: { ...wayToPrograms, AUTH_JWT_ALGORITHM: 'ES256', ...env, PORT: port },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(uid !== undefined && { uid, gid: uid }),
  })
  endWithUs(child)
  const describeEnv = listenTo(child.stdout, child.stderr)
  const ended = once(child, 'close').then(([code]) => ({
    code: code as number | null,
    output: describeEnv.output(),
  }))
  t.after(async () => {
    child.kill('SIGTERM')
    await ended
  })
  const failed = ended.then(({ output }) => Promise.reject(new Error(`it ended: ${output}`)))
  failed.catch(() => {})
  const started = Promise.race([describeEnv.ready, failed]).then(describeEnv.output)
  // A test may want it to end instead.
  started.catch(() => {})
  return { child, url: `http://127.0.0.1:${port}`, started, ended }
}

/** The same as new users do it, in a folder whose `npm run dev` is ours. */
export async function startDevByNpm(t: Ending, folder: string) {
  const scripts = { dev: `"${process.execPath}" "${cli}" dev` }
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ scripts }))
  const npm = spawn('npm', ['run', 'dev'], {
    cwd: folder,
    env: { ...wayToPrograms, HOME: folder, PORT: String(await freePort()) },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  endWithUs(npm, `-${npm.pid}`)
  t.after(async () => endGroup(Number(npm.pid)))
  return { npm, started: listenTo(npm.stdout).ready }
}

/** Its output; `ready` resolves at its last line. */
function listenTo(...streams: Readable[]) {
  let output = ''
  const ready = new Promise<void>((resolve) => {
    for (const stream of streams) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
        if (output.includes(lastLine)) resolve()
      })
    }
  })
  return { ready, output: () => output }
}

function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGTERM')
  } catch {
    // All of it has ended by itself, as it should.
  }
}

/** The address of the embedded Postgres of this folder. */
export function postgresPort(folder: string): number {
  return JSON.parse(readFileSync(join(folder, '.data', 'postgres', 'access.json'), 'utf8')).port
}

export async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
