/** deploy/systemd: the unit, checked by systemd, and its command, started manually. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'

import { startByHand } from '../deploy/started-by-hand.ts'
import { temporaryFolder } from '../support/processes/temporary-folder.ts'
import { until } from '../support/processes/until.ts'

const root = join(import.meta.dirname, '../..')
const unit = readFileSync(join(root, 'deploy/systemd/postern.service'), 'utf8')

suite('deploy/systemd/postern.service', () => {
  test('passes systemd-analyze', (t) => {
    const { folder, here } = install(t)
    const file = join(folder, 'postern.service')
    writeFileSync(file, here(unit))
    if (!hasAnalyzer()) return t.skip('systemd-analyze is not installed')
    assert.equal(verify(file), '')
  })

  test('is checked by a tool that detects an unknown key', (t) => {
    if (!hasAnalyzer()) return t.skip('systemd-analyze is not installed')
    const { folder, here } = install(t)
    const file = join(folder, 'postern.service')
    writeFileSync(file, here(unit).replace('TimeoutStopSec=75', 'TimeoutStopSecs=75'))
    assert.match(verify(file), /Unknown key.*TimeoutStopSecs/)
  })

  test('starts the command of the container', () => {
    const [, command = ''] =
      /^CMD (\[.*\])$/m.exec(readFileSync(join(root, 'Dockerfile'), 'utf8')) ?? []
    assert.deepEqual(readDirective('ExecStart'), [`/usr/bin/${JSON.parse(command).join(' ')}`])
  })

  test('serves from its folder and variables, reopens its log and exits with 0', async (t) => {
    const { folder, here } = install(t)
    const AUTH_LOG_FILE = join(folder, 'auth.log')
    const command = here(readDirective('ExecStart')[0] ?? '').split(' ')
    const { child, ended } = await startByHand(t, command, {
      cwd: here(readDirective('WorkingDirectory')[0] ?? ''),
      env: { AUTH_LOG_FILE, ...unitEnvironment(folder) },
    })

    assert.ok(existsSync(join(folder, 'postern/without-types')))
    renameSync(AUTH_LOG_FILE, `${AUTH_LOG_FILE}.1`)
    child.kill(readSignal('ExecReload'))
    await until(() => existsSync(AUTH_LOG_FILE))
    // The default stop signal unless KillSignal is set.
    assert.doesNotMatch(unit, /^KillSignal/m)
    child.kill('SIGTERM')
    assert.deepEqual(await ended, [0, null])
  })

  test('waits longer than a shutdown may take', () => {
    assert.ok(Number(readDirective('TimeoutStopSec')[0]) > 65)
  })
})

/** The program in a folder without .env; `here` replaces /opt/postern and /usr/bin/node. */
function install(t: TestContext) {
  const folder = temporaryFolder(t, 'systemd')
  for (const name of ['cli.ts', 'deploy']) symlinkSync(join(root, name), join(folder, name))
  const here = (text: string) =>
    text.replaceAll('/usr/bin/node', process.execPath).replaceAll('/opt/postern', folder)
  return { folder, here }
}

function readDirective(name: string): string[] {
  return [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, value = '']) => value)
}

/** With the folder of CacheDirectory=, as systemd makes and names it. */
function unitEnvironment(folder: string): Record<string, string> {
  const cache = join(folder, readDirective('CacheDirectory')[0] ?? '')
  mkdirSync(cache)
  const pairs = readDirective('Environment').flatMap((line) => line.split(' '))
  return {
    ...Object.fromEntries(pairs.map((pair) => pair.split(/=(.*)/, 2))),
    CACHE_DIRECTORY: cache,
  }
}

function readSignal(name: string): NodeJS.Signals {
  const [, signal = ''] = /\/bin\/kill -(\w+) \$MAINPID/.exec(readDirective(name)[0] ?? '') ?? []
  return `SIG${signal}` as NodeJS.Signals
}

function hasAnalyzer(): boolean {
  return spawnSync('systemd-analyze', ['--version']).status === 0
}

/** The messages of systemd-analyze about this unit; empty without errors. */
function verify(file: string): string {
  const { stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', file], {
    encoding: 'utf8',
  })
  const lines = stderr.split('\n')
  return lines.filter((line) => line.includes('postern.service')).join('\n')
}
