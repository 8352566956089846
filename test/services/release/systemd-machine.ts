/** systemd as the first process of its own namespaces, with the programs of this machine: boot-systemd.sh. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'

import { type Ending, lastFirst } from '../../support/processes/ending.ts'
import { endWithUs } from '../../support/processes/stop-with-parent.ts'
import { until } from '../../support/processes/until.ts'
import { createFolder, missing } from '../programs.ts'

export interface Machine {
  /** The folder of its file system. */
  root: string
  /** Runs commands of a shell in it as root, and returns what they print. */
  run(commands: string): Promise<string>
}

/** A reason why this machine cannot boot another systemd, or false. */
export function withoutSystemd(): string | false {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'needs root on Linux'
  if (!existsSync('/lib/systemd/systemd')) return 'systemd is not installed'
  return missing('unshare', 'nsenter', 'setpriv', 'systemctl', 'npm')
}

/** Boots it, or returns why the machine does not permit that. It ends with the test. */
export async function bootSystemd(t: Ending): Promise<Machine | { reason: string }> {
  const ending = lastFirst(t)
  const folder = createFolder(ending)
  const script = join(import.meta.dirname, 'boot-systemd.sh')
  const child = spawn('unshare', ['--mount', script, folder, process.execPath], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  endWithUs(child)
  const ended = once(child, 'exit')
  const errors = text(child.stderr)
  ending.after(async () => {
    child.kill('SIGTERM')
    await ended
  })
  const machine = { root: join(folder, 'root'), run: (commands: string) => run(folder, commands) }
  const booted = until(() => isBooted(machine)).then(
    () => machine,
    () => ({ reason: 'systemd did not boot in time' }),
  )
  const failed = errors.then((reason) => ({ reason: `systemd did not boot: ${reason}` }))
  return await Promise.race([booted, failed])
}

async function isBooted({ run }: Machine): Promise<boolean> {
  try {
    return /running|degraded/.test(await run('systemctl is-system-running || true'))
  } catch {
    return false
  }
}

async function run(folder: string, commands: string): Promise<string> {
  const pid = readFileSync(join(folder, 'pid'), 'utf8').trim()
  const namespaces = ['--mount', '--pid', '--uts', '--ipc', '--cgroup', '--root', '--wd']
  const line = ['--target', pid, ...namespaces, 'sh', '-euc', commands]
  const env = { PATH: '/usr/sbin:/usr/bin', HOME: '/root' }
  return (await promisify(execFile)('nsenter', line, { env })).stdout
}
