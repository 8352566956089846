/** Procfile and the examples for platforms: commands that exist, and a server that they start. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'

import { parse } from 'yaml'

import { knownNames } from '../../config/names.ts'
import { startByHand } from '../deploy/started-by-hand.ts'
import { emptyDatabase } from '../support/database.ts'
import { needed } from '../support/processes/server-process.ts'

const root = join(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const processes = Object.fromEntries(
  read('Procfile')
    .trim()
    .split('\n')
    .map((line) => line.split(/: (.*)/, 2)),
)

suite('Procfile', () => {
  test('migrates an empty database by its release line', async (t) => {
    const { url: DATABASE_URL } = await emptyDatabase(t)
    const [command = '', ...args] = (processes.release ?? '').split(' ')
    const { status, stderr } = spawnSync(command, args, {
      cwd: root,
      env: { ...process.env, ...needed, DATABASE_URL },
      encoding: 'utf8',
    })
    assert.equal(status, 0, stderr)
  })

  test('serves on PORT by its web line', async (t) => {
    assert.equal(processes.web, 'npm start')
    const { scripts } = JSON.parse(read('package.json'))
    const [, ...args] = scripts.start.split(' ')
    const { child, ended } = await startByHand(t, [process.execPath, ...args], {
      cwd: root,
      env: {},
    })
    child.kill('SIGTERM')
    assert.deepEqual(await ended, [0, null])
  })
})

suite('examples for platforms', () => {
  test('deploy/render.yaml has known variables, a health check and a long enough shutdown', () => {
    const { services } = parse(read('deploy/render.yaml'))
    const [service] = services
    for (const { key } of service.envVars) assert.ok(knownNames.has(key), key)
    assert.equal(service.healthCheckPath, '/ready')
    assert.ok(service.maxShutdownDelaySeconds > 65)
  })

  test('deploy/fly.toml has known variables, a health check and a long enough shutdown', () => {
    const text = read('deploy/fly.toml')
    const [, env = ''] = /\[env\]\n([\s\S]*?)\n\n/.exec(text) ?? []
    const names = env.split('\n').map((line) => line.split(' = ')[0] ?? '')
    assert.ok(names.length >= 5)
    for (const name of names) assert.ok(knownNames.has(name), name)
    assert.match(text, /^path = '\/ready'$/m)
    assert.ok(Number(/^kill_timeout = (\d+)$/m.exec(text)?.[1]) > 65)
    assert.match(text, /^internal_port = 8081$/m)
  })
})
