/** deploy/systemd: the unit by systemd's own check, and what it starts, started by hand. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'

import { until } from '../support/until.ts'
import { startByHand } from './started-by-hand.ts'

const root = join(import.meta.dirname, '../..')
const unit = readFileSync(join(root, 'deploy/systemd/postern.service'), 'utf8')

suite('deploy/systemd/postern.service', () => {
  test('is right, as systemd sees it', (t) => {
    const { folder, here } = install(t)
    const file = join(folder, 'postern.service')
    writeFileSync(file, here(unit))
    if (!hasAnalyzer()) return t.skip('systemd-analyze is not installed')
    assert.equal(verify(file), '')
  })

  test('a mistake in it would be found', (t) => {
    if (!hasAnalyzer()) return t.skip('systemd-analyze is not installed')
    const { folder, here } = install(t)
    const file = join(folder, 'postern.service')
    writeFileSync(file, here(unit).replace('TimeoutStopSec=75', 'TimeoutStopSecs=75'))
    assert.match(verify(file), /Unknown key.*TimeoutStopSecs/)
  })

  test('starts what the container starts', () => {
    const [, command = ''] =
      /^CMD (\[.*\])$/m.exec(readFileSync(join(root, 'Dockerfile'), 'utf8')) ?? []
    assert.deepEqual(valuesOf('ExecStart'), [`/usr/bin/${JSON.parse(command).join(' ')}`])
  })

  test('its command serves from its folder and its variables, opens its log anew, and ends well', async (t) => {
    const { folder, here } = install(t)
    const AUTH_LOG_FILE = join(folder, 'auth.log')
    const command = here(valuesOf('ExecStart')[0] ?? '').split(' ')
    const { child, ended } = await startByHand(t, command, {
      cwd: here(valuesOf('WorkingDirectory')[0] ?? ''),
      env: { AUTH_LOG_FILE, ...unitEnvironment(folder) },
    })

    renameSync(AUTH_LOG_FILE, `${AUTH_LOG_FILE}.1`)
    child.kill(signalOf('ExecReload'))
    await until(() => existsSync(AUTH_LOG_FILE))
    // What systemd sends to stop it, unless KillSignal says another one.
    assert.doesNotMatch(unit, /^KillSignal/m)
    child.kill('SIGTERM')
    assert.deepEqual(await ended, [0, null])
  })

  test('waits longer than a stop may take', () => {
    assert.ok(Number(valuesOf('TimeoutStopSec')[0]) > 65)
  })
})

/** The program in a folder of its own, away from an .env; `here` says where in place of /opt/postern and /usr/bin/node. */
function install(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'postern-systemd-'))
  t.after(() => rmSync(folder, { recursive: true }))
  symlinkSync(join(root, 'cli.ts'), join(folder, 'cli.ts'))
  const here = (text: string) =>
    text.replaceAll('/usr/bin/node', process.execPath).replaceAll('/opt/postern', folder)
  return { folder, here }
}

function valuesOf(name: string): string[] {
  return [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value)
}

/** %C is where CacheDirectory= is made. */
function unitEnvironment(folder: string): Record<string, string> {
  const cache = join(folder, 'cache')
  mkdirSync(cache)
  const pairs = valuesOf('Environment').flatMap((line) => line.replaceAll('%C', cache).split(' '))
  return Object.fromEntries(pairs.map((pair) => pair.split(/=(.*)/, 2)))
}

function signalOf(name: string): NodeJS.Signals {
  const [, signal = ''] = /\/bin\/kill -(\w+) \$MAINPID/.exec(valuesOf(name)[0] ?? '') ?? []
  return `SIG${signal}` as NodeJS.Signals
}

function hasAnalyzer(): boolean {
  return spawnSync('systemd-analyze', ['--version']).status === 0
}

/** What it objects to in this unit; nothing when all is well. */
function verify(file: string): string {
  const { stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', file], {
    encoding: 'utf8',
  })
  const lines = stderr.split('\n')
  return lines.filter((line) => line.includes('postern.service')).join('\n')
}
