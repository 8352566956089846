import assert from 'node:assert/strict'
import { chownSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'

import { startCli } from '../support/cli-process.ts'
import { encryptionKey } from '../support/config.ts'
import { cloneDatabase } from '../support/database.ts'
import {
  isListening,
  newProject,
  postgresPort,
  startDev,
  startDevByNpm,
} from '../support/dev-process.ts'
import { listen } from '../support/listening.ts'
import { until } from '../support/until.ts'

interface Message {
  channel: string
  to: string
  links: string[]
  code: string
}

interface Settings {
  passkeys_enabled: boolean
}

type Dev = Awaited<ReturnType<typeof startDev>>

const isRoot = process.getuid?.() === 0
const nobody = 65_534

suite('npm run dev', { concurrency: 2 }, () => {
  test('brings up everything, keeps it, and stops when it is told', async (t) => {
    const folder = newProject(t)
    const first = await startDev(t, folder)
    const welcome = await first.started
    await signUp(first.url)
    await until(async () => (await messages(first.url)).length === 1)
    const [mail] = await messages(first.url)
    assert.equal(mail?.to, 'ann@example.com')
    const confirmed = await fetch(mail?.links[0] ?? '', { redirect: 'manual' })
    assert.match(
      confirmed.headers.get('location') ?? '',
      /^http:\/\/127\.0\.0\.1:\d+\/dev\/signed-in#access_t/,
    )
    assert.equal(statSync(join(folder, '.data', 'secrets.json')).mode & 0o777, 0o600)
    const users = await command(t, folder, 'users', 'export')
    assert.match(users.out, /"email":"ann@example\.com"/)
    assert.equal((await getJson<Settings>(`${first.url}/settings`)).passkeys_enabled, true)
    const token = (await command(t, folder, 'token', '--role', 'service_role')).out.trim()
    const asked = await fetch(`${first.url}/admin/users`, { headers: bearer(token) })
    assert.equal(asked.status, 200)
    await stopsEverything(first, folder, 'SIGINT')
    assert.match((await command(t, folder, 'keys', 'list')).err, /start npm run dev in this folder/)

    const second = await startDev(t, folder)
    const again = await second.started

    assert.deepEqual(tokensIn(again), tokensIn(welcome))
    assert.deepEqual(await messages(second.url), [mail])
    const headers = bearer(tokensIn(again)[1] ?? '')
    const people = await getJson<{ users: { email: string }[] }>(
      `${second.url}/admin/users`,
      headers,
    )
    assert.deepEqual(
      people.users.map(({ email }) => email),
      ['ann@example.com'],
    )
    for (const path of ['/docs', '/dev/inbox', '/openapi.json']) {
      assert.equal((await fetch(second.url + path)).status, 200, path)
    }
    await stopsEverything(second, folder, 'SIGHUP')
  })

  test('text messages are in the inbox too, the environment beats the presets, and another database needs none of ours', async (t) => {
    const folder = newProject(t)
    writeFileSync(join(folder, '.env'), 'AUTH_SMS_OTP_LENGTH=8\nAUTH_EXTERNAL_PHONE_ENABLED=true\n')
    const { url, started } = await startDev(t, folder, {
      env: {
        DATABASE_URL: (await cloneDatabase(t)).url,
        AUTH_DEV_ALLOW_DATABASE_URL: 'true',
        AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED: 'false',
      },
    })
    await started

    await post(`${url}/otp`, { phone: '+15550100' })
    const { external } = await getJson<{ external: Record<string, boolean> }>(`${url}/settings`)

    await until(async () => (await messages(url)).length === 1)
    const [message] = await messages(url)
    assert.deepEqual([message?.channel, message?.to], ['sms', '+15550100'])
    assert.match(message?.code ?? '', /^\d{8}$/)
    assert.deepEqual([external.phone, external.anonymous_users], [true, false])
    assert.equal(existsSync(join(folder, '.data', 'postgres')), false)
  })

  test('a second copy on the same folder says so, and the first goes on until SIGTERM stops it', async (t) => {
    const folder = newProject(t)
    const first = await startDev(t, folder)
    await first.started
    const second = await startDev(t, folder)

    const { code, output } = await second.ended

    assert.equal(code, 1)
    assert.match(output, /^The folder .*\.data\/postgres is in use by another copy.*\n$/)
    assert.equal((await fetch(`${first.url}/health`)).status, 200)
    await stopsEverything(first, folder, 'SIGTERM')
  })

  test('a key of a deployment in .env, with which the database cannot be read, is told with what to do', async (t) => {
    const folder = newProject(t)
    const first = await startDev(t, folder)
    await first.started
    first.child.kill('SIGTERM')
    await first.ended
    writeFileSync(join(folder, '.env'), `AUTH_ENCRYPTION_KEY=${encryptionKey}\n`)

    const { code, output } = await (await startDev(t, folder)).ended

    assert.equal(code, 1)
    assert.match(
      output,
      /^The database in \.data\/ was made with another AUTH_ENCRYPTION_KEY .*\.env/,
    )
    assert.match(output, /leave that out .*\n.*remove \.data\/\n$/)
  })

  test('a port in use says so, and leaves no Postgres behind', async (t) => {
    const folder = newProject(t)
    const other = createServer()
    t.after(async () => void other.close())
    const port = await listen(other)
    const { ended } = await startDev(t, folder, { env: { PORT: String(port) } })

    const { code, output } = await ended

    assert.equal(code, 1)
    assert.match(output, /^Port \d+ on 127\.0\.0\.1 is in use by another program: .*PORT=\d+\.$/m)
    assert.doesNotMatch(output, /^\s+at /m)
    assert.equal(await isListening(postgresPort(folder)), false)
  })

  const elsewhere = {
    DATABASE_URL: 'postgres://a@127.0.0.1:1/a',
    AUTH_DEV_ALLOW_DATABASE_URL: 'true',
  }
  const loud = /^DEVELOPMENT MODE ON THE DATABASE a on 127\.0\.0\.1:1: .*\n/
  const unusable: [string, (folder: string) => void, RegExp, Record<string, string>?][] = [
    [
      'a folder that cannot be written',
      (folder) => writeFileSync(join(folder, '.data'), ''),
      /^The folder .* cannot be used for the database .*\n$/,
    ],
    [
      'damaged secrets',
      (folder) => {
        mkdirSync(join(folder, '.data'))
        writeFileSync(join(folder, '.data', 'secrets.json'), '{')
      },
      /secrets\.json is damaged: .*\n$/,
      elsewhere,
    ],
    [
      'a wrong configuration',
      (folder) => writeFileSync(join(folder, '.env'), 'AUTH_JWT_EXP=soon\nAUTH_SITE_URL=x\n'),
      /The configuration has 2 mistakes:\n {2}AUTH_.*\n {2}AUTH_.*\ndocs\/configuration\.md explains .*\n$/,
      elsewhere,
    ],
    [
      'a port that is none',
      () => {},
      /The configuration has one mistake:\n {2}PORT is "abc"; .*\ndocs\/configuration\.md explains .*\n$/,
      { ...elsewhere, PORT: 'abc' },
    ],
    [
      'a database of production',
      (folder) =>
        writeFileSync(join(folder, '.env'), 'DATABASE_URL=postgres://a:secret@db.example/people\n'),
      /^DATABASE_URL is set, in the environment or in \.env, to the database people on db\.example\.\n.*--database-url URL\n.*AUTH_DEV_ALLOW_DATABASE_URL=true\n/s,
    ],
  ]
  for (const [what, make, expected, env = {}] of unusable) {
    test(`${what} is told in plain words`, async (t) => {
      const folder = newProject(t)
      make(folder)
      const { ended } = await startDev(t, folder, { env })
      const { code, output } = await ended
      assert.equal(code, 1)
      assert.match(output, expected)
      if (env === elsewhere) assert.match(output, loud)
      assert.doesNotMatch(output, /secret@/)
    })
  }

  test('SIGTERM for npm alone stops everything as well', async (t) => {
    const folder = newProject(t)
    const { npm, started } = await startDevByNpm(t, folder)
    await started
    assert.equal(await isListening(postgresPort(folder)), true)

    npm.kill('SIGTERM')

    await until(async () => !(await isListening(postgresPort(folder))))
  })

  test('Ctrl-C while it starts leaves nothing behind', async (t) => {
    const folder = newProject(t)
    const { child, ended } = await startDev(t, folder)
    await until(() => statSync(join(folder, '.data'), { throwIfNoEntry: false }) !== undefined)

    child.kill('SIGINT')

    assert.equal((await ended).code, 0)
    assert.equal(await isListening(postgresPort(folder)), false)
  })

  test('works as a plain user', { skip: !isRoot && 'is one already' }, async (t) => {
    const folder = newProject(t)
    chownSync(folder, nobody, nobody)
    const { url, started } = await startDev(t, folder, { uid: nobody })
    await started
    await signUp(url)
    assert.equal(statSync(join(folder, '.data', 'secrets.json')).uid, nobody)
  })
})

/** Though a page still listens for mail. */
async function stopsEverything(dev: Dev, folder: string, signal: NodeJS.Signals): Promise<void> {
  assert.equal((await fetch(`${dev.url}/dev/events`)).status, 200)

  dev.child.kill(signal)

  assert.equal((await dev.ended).code, 0)
  assert.equal(await isListening(postgresPort(folder)), false)
}

/** What a command writes that is called beside the server. */
async function command(t: TestContext, cwd: string, ...args: string[]) {
  const { written, ended } = startCli(t, args, { cwd })
  await ended
  return written
}

function bearer(token: string) {
  return { authorization: `Bearer ${token}` }
}

function post(url: string, body: object): Promise<Response> {
  const headers = { 'content-type': 'application/json' }
  return fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
}

async function signUp(url: string): Promise<void> {
  const body = { email: 'ann@example.com', password: 'correct horse' }
  assert.equal((await post(`${url}/signup`, body)).status, 200)
}

async function getJson<T>(url: string, headers: Record<string, string> = {}): Promise<T> {
  return (await fetch(url, { headers })).json() as Promise<T>
}

function messages(url: string): Promise<Message[]> {
  return getJson(`${url}/dev/messages`)
}

function tokensIn(welcome: string): string[] {
  const tokens = [...welcome.matchAll(/key +(ey[\w.-]+)/g)].map(([, token]) => token ?? '')
  assert.equal(tokens.length, 2)
  return tokens
}
