/** `npm start`: what keeps it from starting is said at once, and what does not matter does not. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { suite, type TestContext, test } from 'node:test'

import { startCli } from '../support/cli-process.ts'
import { cloneDatabase, emptyDatabase } from '../support/database.ts'
import { ask, freePort, startServerProcess, until } from '../support/server-process.ts'

const right = {
  AUTH_SITE_URL: 'http://app.example',
  AUTH_API_EXTERNAL_URL: 'http://auth.example',
  AUTH_API_HOST: '127.0.0.1',
  AUTH_DB_DRIVER: 'postgres',
  AUTH_JWT_SECRET: 'only-for-tests-and-long-enough-to-pass',
  AUTH_JWT_ALGORITHM: 'ES256',
}

suite('npm start', () => {
  test('lists every mistake of the configuration, before anything is opened', async (t) => {
    const database = await listener(t)
    const { AUTH_SITE_URL, ...rest } = right
    const env = {
      ...rest,
      DATABASE_URL: `postgres://a:secret-word@127.0.0.1:${database.port}/a`,
      PORT: '99999',
      AUTH_JWT_EXP: 'soon',
      AUTH_MAILER_AUTOCONFIRM: 'perhaps',
      AUTH_DB_DRIVER: 'mysql',
      AUTH_SMTP_PASS: 'secret-word',
      AUTH_EXTERNAL_GITHUB_ENABLED: 'true',
    }

    const { written, ended } = serve(t, env)

    assert.equal(await ended, 1)
    const lines = written.err.trim().split('\n')
    assert.match(lines[0] ?? '', /^The configuration has 11 mistakes:$/)
    const named = lines.slice(1).map((line) => /^ {2}(\w+) .+; .+\.$/.exec(line)?.[1])
    assert.deepEqual(named.toSorted(), [
      'AUTH_DB_DRIVER',
      'AUTH_EXTERNAL_GITHUB_CLIENT_ID',
      'AUTH_EXTERNAL_GITHUB_REDIRECT_URI',
      'AUTH_EXTERNAL_GITHUB_SECRET',
      'AUTH_JWT_EXP',
      'AUTH_MAILER_AUTOCONFIRM',
      'AUTH_SITE_URL',
      'AUTH_SMTP_ADMIN_EMAIL',
      'AUTH_SMTP_HOST',
      'AUTH_SMTP_USER',
      'PORT',
    ])
    assert.doesNotMatch(written.err + written.out, /secret-word/)
    assert.equal(database.connections(), 0)
  })

  test('two at once on an empty database both serve, without the pages of development', async (t) => {
    const { url: DATABASE_URL } = await emptyDatabase(t)
    const servers = await Promise.all([0, 1].map(() => startServerProcess(t, { DATABASE_URL })))
    for (const { url } of servers) {
      assert.equal((await ask(`${url}/ready`)).status, 200)
      assert.equal((await ask(`${url}/.well-known/jwks.json`)).status, 200)
      for (const page of ['/dev', '/dev/inbox', '/dev/messages', '/docs']) {
        assert.equal((await ask(url + page)).status, 404, page)
      }
    }
  })

  test('a database that does not exist is named as the reason', async (t) => {
    const url = new URL(process.env.TEST_ADMIN_URL ?? '')
    url.pathname = '/postern_nobody_made_this'

    const { written, ended } = serve(t, { ...right, DATABASE_URL: url.href })

    assert.equal(await ended, 1)
    assert.match(
      written.err,
      /^The database of DATABASE_URL cannot be used: .*postern_nobody_made_this.* Check that it runs/,
    )
    assert.equal(written.err.trim().split('\n').length, 1)
    assert.equal(url.password !== '' && written.err.includes(url.password), false)
  })

  const addresses: Record<string, [env: Record<string, string>, sentence: RegExp]> = {
    'an address of another machine': [
      { AUTH_API_HOST: '192.0.2.1' },
      /^192\.0\.2\.1 is no address of this machine: set AUTH_API_HOST to one that is\.$/,
    ],
    'a port in use': [{}, /^Port \d+ on 127\.0\.0\.1 is in use by another program: stop it, or/],
  }
  for (const [what, [env, sentence]] of Object.entries(addresses)) {
    test(`${what} is told in one sentence`, async (t) => {
      const { port } = await listener(t)
      const { url: DATABASE_URL } = await cloneDatabase(t)

      const { written, ended } = serve(t, { ...right, DATABASE_URL, PORT: String(port), ...env })

      assert.equal(await ended, 1)
      assert.match(written.err.trim(), sentence)
      assert.equal(written.err.trim().split('\n').length, 1, written.err)
    })
  }

  test('a database that is not there yet is waited for', async (t) => {
    const port = await freePort()
    const DATABASE_URL = `postgres://a:b@127.0.0.1:${port}/a`

    const { written, child, ended } = serve(t, { ...right, DATABASE_URL })

    const isWaiting = () => written.out.includes('the database does not answer yet; waiting')
    await until(isWaiting, { seconds: 60 })
    assert.equal(child.exitCode, null)
    child.kill('SIGKILL')
    await ended
    assert.equal(written.err, '')
  })
})

/** Away from an .env that would change what is tested. */
function serve(t: TestContext, env: Record<string, string>) {
  return startCli(t, ['serve'], { cwd: tmpdir(), env })
}

/** In the place of a database: counts who comes. */
async function listener(t: TestContext) {
  let connections = 0
  const server = createServer((socket) => {
    connections += 1
    socket.destroy()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => void server.close())
  return { port: (server.address() as AddressInfo).port, connections: () => connections }
}
