/** The PostgREST companion of docker-compose.yml, as a process next to a real server and database. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { suite, test } from 'node:test'

import { mintServiceRole } from '../../server/service-role.ts'
import { testConfig } from '../support/config.ts'
import { openClient } from '../support/database.ts'
import { type Ending, lastFirst } from '../support/processes/ending.ts'
import { temporaryFolder } from '../support/processes/temporary-folder.ts'
import { until } from '../support/processes/until.ts'
import { build } from '../support/server.ts'

const companion = new URL('../../deploy/rest-keys.ts', import.meta.url).pathname
/** Like PostgREST’s role, with no right except to connect. */
const role = `rest_${randomBytes(6).toString('hex')}`

suite('deploy/rest-keys.ts', () => {
  test('writes the key set to a file and notifies PostgREST of changes', async (t) => {
    const ending = lastFirst(t)
    const { app, database } = await build(ending)
    const databaseUrl = database.url
    const url = await app.listen({ host: '127.0.0.1', port: 0 })
    const admin = await openClient(ending, databaseUrl)
    await admin.query(`create role ${role} login noinherit`)
    ending.after(async () => void (await admin.query(`drop role ${role}`)))
    const received: (string | undefined)[] = []
    admin.on('notification', ({ channel, payload }) => received.push(`${channel}: ${payload}`))
    await admin.query('listen pgrst')

    const file = await start(ending, {
      databaseUrl: Object.assign(new URL(databaseUrl), { username: role }).href,
      jwksUrl: `${url}/.well-known/jwks.json`,
    })

    await until(() => received.length === 1)
    assert.deepEqual(received, ['pgrst: reload config'])
    assert.equal((await keysIn(file)).length, 1)
    await rotate(url)
    await until(() => received.length === 2)
    assert.equal((await keysIn(file)).length, 2, 'the file is there before the message')
    const published = await fetch(`${url}/.well-known/jwks.json`)
    assert.equal(await readFile(file, 'utf8'), await published.text())
  })
})

async function start(t: Ending, where: { databaseUrl: string; jwksUrl: string }) {
  const folder = temporaryFolder(t, 'rest-keys')
  const file = join(folder, 'jwks.json')
  const child = spawn(process.execPath, [companion], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      DATABASE_URL: where.databaseUrl,
      JWKS_URL: where.jwksUrl,
      JWKS_FILE: file,
      JWKS_INTERVAL: '0.1',
    },
  })
  const ended = once(child, 'exit')
  t.after(async () => {
    child.kill('SIGTERM')
    const [code] = await ended
    assert.equal(code, 0)
  })
  return file
}

async function keysIn(file: string): Promise<unknown[]> {
  return JSON.parse(await readFile(file, 'utf8')).keys
}

async function rotate(url: string): Promise<void> {
  const token = await mintServiceRole(testConfig().AUTH_JWT_SECRET)
  const response = await fetch(`${url}/admin/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '{"action":"rotate"}',
  })
  assert.equal(response.status, 200)
}
