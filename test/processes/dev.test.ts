import assert from 'node:assert/strict'
import { chownSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'

import { encryptionKey } from '../support/config.ts'
import { cloneDatabase } from '../support/database.ts'
import { startCli } from '../support/processes/cli-process.ts'
import {
  isListening,
  newProject,
  postgresPort,
  startDev,
  startDevByNpm,
} from '../support/processes/dev-process.ts'
import { listen } from '../support/processes/listening.ts'
import { until } from '../support/processes/until.ts'

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

/** Evaluates oidc-provider longer than any sign-in waits. */
const slowProvider = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module'
  registerHooks({
    load: (url, context, next) => url.endsWith('/oidc-provider/lib/index.js')
      ? { format: 'module', shortCircuit: true, source: 'await new Promise((r) => setTimeout(r, 60_000))' }
      : next(url, context),
  })`)}`

const isRoot = process.getuid?.() === 0
const unknown = 65_534

suite('npm run dev', { concurrency: 2 }, () => {
  test('starts all services, keeps data and stops on a signal', async (t) => {
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
    const pending = await fetch(`${first.url}/admin/users`, { headers: bearer(token) })
    assert.equal(pending.status, 200)
    const named = await command(t, folder, 'admin', 'create', 'new@example.com')
    assert.match(named.out, /\/console#first-admin=/)
    assert.doesNotMatch(named.out, /console is disabled/)
    assert.match((await command(t, folder, 'doctor')).out, /^pass +mail +In development/m)
    const backup = await command(t, folder, 'backup', join(folder, 'all.dump'))
    assert.match(backup.out + backup.err, /all\.dump: |stop npm run dev, then run cp -RL \.data/)
    await stopsEverything(first, folder, 'SIGINT')
    assert.match((await command(t, folder, 'keys', 'list')).err, /start npm run dev in this folder/)

    const second = await startDev(t, folder)
    const again = await second.started

    assert.deepEqual(tokensIn(again), tokensIn(welcome))
    assert.deepEqual(await messages(second.url), [mail])
    const headers = bearer(tokensIn(again)[1] ?? '')
    const accounts = await getJson<{ users: { email: string }[] }>(
      `${second.url}/admin/users`,
      headers,
    )
    assert.deepEqual(
      accounts.users.map(({ email }) => email),
      ['ann@example.com'],
    )
    for (const path of ['/docs', '/dev/inbox', '/openapi.json']) {
      assert.equal((await fetch(second.url + path)).status, 200, path)
    }
    await stopsEverything(second, folder, 'SIGHUP')
  })

  test('enables every feature, and says each in an aligned line', async (t) => {
    const { url, started } = await startDev(t, newProject(t))
    const welcome = await started
    const lines = [...welcome.matchAll(/^ {2}([A-Z][\w -]*?) {2,}(\S.*)$/gm)]
    const texts = Object.fromEntries(lines.map(([, name, text]) => [name, text]))
    const columns = lines.map(([line, , text = '']) => line.length - text.length)
    assert.deepEqual([...new Set(columns)], [20])
    assert.equal(texts['Hosted sign-in'], `${url}/sign-in`)
    assert.match(texts.Organizations ?? '', /users of example\.com join the organization Example/)
    for (const name of ['Usernames', 'OAuth provider', 'SAML', 'SCIM', 'Events']) {
      assert.ok(texts[name], name)
    }
    const headers = bearer(tokensIn(welcome)[1] ?? '')
    const metadata = await getJson<object>(`${url}/.well-known/oauth-authorization-server`)
    assert.ok('registration_endpoint' in metadata)
    const made = { email: 'ann@example.com', password: 'correct horse', email_confirm: true }
    await post(`${url}/admin/users`, made, headers)
    const signedIn = await post(`${url}/token?grant_type=password`, made)
    const { access_token } = (await signedIn.json()) as { access_token: string }
    const member = await getJson<{ organizations: { slug: string }[] }>(
      `${url}/organizations`,
      bearer(access_token),
    )
    assert.deepEqual(
      member.organizations.map(({ slug }) => slug),
      ['example'],
    )
    for (const [path, status] of [
      ['/sso/saml/metadata', 200],
      ['/admin/events', 200],
      ['/scim/v2/Users', 401],
      ['/sign-in', 200],
      ['/account', 200],
      ['/console', 200],
    ] as const) {
      assert.equal((await fetch(url + path, { headers })).status, status, path)
    }
    const page = await (await fetch(`${url}/dev`)).text()
    for (const path of ['/console', '/account', '/sign-in']) {
      assert.ok(page.includes(`href="${path}"`), path)
    }
  })

  test('logs readable lines, with the path of a wrong request', async (t) => {
    const { child, url, started, ended } = await startDev(t, newProject(t))
    await started
    await fetch(`${url}/auth/v1/singup?secret=1`)
    await post(`${url}/signup`, { email: 'x' })
    child.kill('SIGTERM')
    const { output } = await ended
    const time = '\\d\\d:\\d\\d:\\d\\d'
    assert.match(output, new RegExp(`^${time} warn  GET /auth/v1/singup 404 There is nothing`, 'm'))
    assert.match(output, new RegExp(`^${time} warn  POST /signup 400 `, 'm'))
    assert.doesNotMatch(output, /secret=1|^\{|oidc-provider WARNING/m)
  })

  test('redirects to the development provider before its package is loaded', async (t) => {
    const { url, started } = await startDev(t, newProject(t), {
      env: { NODE_OPTIONS: `--import "${slowProvider}"` },
    })
    await started
    const response = await fetch(`${url}/authorize?provider=dev`, { redirect: 'manual' })
    assert.equal(response.status, 302)
    const target = response.headers.get('location') ?? ''
    assert.ok(target.startsWith(`${url}/dev/oidc/auth?`), target)
  })

  test('shows SMS in the inbox, prefers the environment to presets and accepts another database', async (t) => {
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

  test('rejects a second instance on the same folder and keeps the first running', async (t) => {
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

  test('explains an AUTH_ENCRYPTION_KEY in .env that cannot decrypt the database', async (t) => {
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
      /^The database in \.data\/ was created with another AUTH_ENCRYPTION_KEY .*\.env/,
    )
    assert.match(output, /remove the variable .*\n.*remove \.data\/\n$/)
  })

  test('reports a port in use and leaves no Postgres running', async (t) => {
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

  const otherServer = {
    DATABASE_URL: 'postgres://a@127.0.0.1:1/a',
    AUTH_DEV_ALLOW_DATABASE_URL: 'true',
  }
  const warning = /^DEVELOPMENT MODE ON THE DATABASE a on 127\.0\.0\.1:1: .*\n/
  const unusable: [string, (folder: string) => void, RegExp, Record<string, string>?][] = [
    [
      'a folder without write permission',
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
      otherServer,
    ],
    [
      'a wrong configuration',
      (folder) => writeFileSync(join(folder, '.env'), 'AUTH_JWT_EXP=soon\nAUTH_SITE_URL=x\n'),
      /The configuration has 2 errors:\n {2}AUTH_.*\n {2}AUTH_.*\ndocs\/configuration\.md explains .*\n$/,
      otherServer,
    ],
    [
      'an invalid port',
      () => {},
      /The configuration has one error:\n {2}PORT is "abc"; .*\ndocs\/configuration\.md explains .*\n$/,
      { ...otherServer, PORT: 'abc' },
    ],
    [
      'a production database',
      (folder) =>
        writeFileSync(
          join(folder, '.env'),
          'DATABASE_URL=postgres://a:secret@db.example/members\n',
        ),
      /^DATABASE_URL is set, in the environment or in \.env, to the database members on db\.example\.\n.*--database-url URL\n.*AUTH_DEV_ALLOW_DATABASE_URL=true\n/s,
    ],
  ]
  for (const [what, make, expected, env = {}] of unusable) {
    test(`reports ${what} in one sentence`, async (t) => {
      const folder = newProject(t)
      make(folder)
      const { ended } = await startDev(t, folder, { env })
      const { code, output } = await ended
      assert.equal(code, 1)
      assert.match(output, expected)
      if (env === otherServer) assert.match(output, warning)
      assert.doesNotMatch(output, /secret@/)
    })
  }

  test('stops everything on SIGTERM to npm only', async (t) => {
    const folder = newProject(t)
    const { npm, started } = await startDevByNpm(t, folder)
    await started
    assert.equal(await isListening(postgresPort(folder)), true)

    npm.kill('SIGTERM')

    await until(async () => !(await isListening(postgresPort(folder))))
  })

  test('leaves nothing running after Ctrl-C during the start', async (t) => {
    const folder = newProject(t)
    const { child, ended } = await startDev(t, folder)
    await until(() => statSync(join(folder, '.data'), { throwIfNoEntry: false }) !== undefined)

    child.kill('SIGINT')

    assert.equal((await ended).code, 0)
    assert.equal(await isListening(postgresPort(folder)), false)
  })

  test('starts as an unprivileged user', { skip: !isRoot && 'is one already' }, async (t) => {
    const folder = newProject(t)
    chownSync(folder, unknown, unknown)
    const { url, started } = await startDev(t, folder, { uid: unknown })
    await started
    await signUp(url)
    assert.equal(statSync(join(folder, '.data', 'secrets.json')).uid, unknown)
  })
})

/** Though a page still listens for mail. */
async function stopsEverything(dev: Dev, folder: string, signal: NodeJS.Signals): Promise<void> {
  assert.equal((await fetch(`${dev.url}/dev/events`)).status, 200)

  dev.child.kill(signal)

  assert.equal((await dev.ended).code, 0)
  assert.equal(await isListening(postgresPort(folder)), false)
}

/** The output of a command run next to the server. */
async function command(t: TestContext, cwd: string, ...args: string[]) {
  const { written, ended } = startCli(t, args, { cwd })
  await ended
  return written
}

function bearer(token: string) {
  return { authorization: `Bearer ${token}` }
}

function post(url: string, body: object, more: Record<string, string> = {}): Promise<Response> {
  const headers = { 'content-type': 'application/json', ...more }
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
