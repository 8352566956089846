/** The archive for plain machines, installed by the commands of docs/deploying.md and started by systemd. */
import assert from 'node:assert/strict'
import { appendFileSync, copyFileSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

import type { Ending } from '../../support/processes/ending.ts'
import { isReady } from '../../support/processes/server-process.ts'
import { until } from '../../support/processes/until.ts'
import { repository } from './artifacts.ts'
import { runJourney } from './journey.ts'
import { startDatabaseAndMail } from './started.ts'
import type { Machine } from './systemd-machine.ts'

/** Installs, starts, passes the journey test, reloads, runs a command and stops. */
export async function passesUnderSystemd(
  t: Ending,
  machine: Machine,
  archive: string,
): Promise<void> {
  const { env, url, codeFor } = await startDatabaseAndMail(t)
  await install(machine, archive, env)
  await machine.run(documented('systemctl enable').replace(/^journalctl.*$/m, ''))
  await until(() => isReadyOrFailed(machine, url), { seconds: 300 })
  const user = Number(await machine.run(`stat --format=%u /proc/${await show(machine, 'MainPID')}`))
  assert.ok(user >= 61_184 && user <= 65_519, `not a dynamic user: ${user}`)
  await runJourney(url, codeFor)
  await machine.run('systemctl reload postern')
  assert.ok(await isReady(url))
  const command = documented('systemd-run').replace('doctor', 'token --role service_role')
  assert.match(await machine.run(command), /^eyJ/)
  await machine.run('systemctl stop postern')
  assert.equal(await show(machine, 'Result'), 'success')
  assert.equal(await show(machine, 'ExecMainStatus'), '0')
}

async function install(machine: Machine, archive: string, env: Record<string, string>) {
  copyFileSync(archive, join(machine.root, basename(archive)))
  const unpack = documented('tar --extract').replace(/\S+\.tar\.gz/, basename(archive))
  await machine.run(`cd /\n${unpack}\n${documented('npm run secrets')}`)
  const lines = Object.entries(env).map(([name, value]) => `${name}="${value}"\n`)
  appendFileSync(join(machine.root, 'etc/postern/environment'), lines.join(''))
}

/** The commands of a section of docs/deploying.md: the one block that contains the text. */
function documented(part: string): string {
  const guide = readFileSync(join(repository, 'docs/deploying.md'), 'utf8')
  const [, section = ''] = guide.split('\n## A plain machine\n')
  const blocks = [...section.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = '']) => block)
  const found = blocks.filter((block) => block.includes(part))
  assert.equal(found.length, 1, part)
  return String(found[0])
}

async function isReadyOrFailed(machine: Machine, url: string): Promise<boolean> {
  if ((await show(machine, 'ActiveState')) === 'active') return isReady(url)
  return assert.fail(await machine.run('journalctl --unit postern --no-pager'))
}

async function show(machine: Machine, property: string): Promise<string> {
  return (await machine.run(`systemctl show postern --property=${property} --value`)).trim()
}
