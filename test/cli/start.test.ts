/** `npm start` and other commands: errors that prevent the start are reported immediately, others are not. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'

import { run } from '../../cli/providers.ts'
import { createPino } from '../../plugins/observability/logger/index.ts'
import { warnOfClock } from '../../server/clock.ts'
import { allowNoHome } from '../../server/home-folder.ts'
import { startServer } from '../../server.ts'
import { query } from '../db/sql.ts'
import { encryptionKey, testConfig } from '../support/config.ts'
import { cloneDatabase, emptyDatabase } from '../support/database.ts'
import { startCli } from '../support/processes/cli-process.ts'
import { callCommand } from '../support/processes/command-call.ts'
import { endingOfSuite } from '../support/processes/ending.ts'
import { freePort } from '../support/processes/free-port.ts'
import { listen } from '../support/processes/listening.ts'
import { httpGet, startServerProcess } from '../support/processes/server-process.ts'
import { startTcpProxy } from '../support/processes/tcp-proxy.ts'
import { temporaryFolder } from '../support/processes/temporary-folder.ts'
import { functionEnv } from '../support/webhooks/hook-functions.ts'

const right = {
  AUTH_SITE_URL: 'http://app.example',
  AUTH_API_EXTERNAL_URL: 'http://auth.example',
  AUTH_API_HOST: '127.0.0.1',
  AUTH_DB_DRIVER: 'postgres',
  AUTH_JWT_SECRET: 'only-for-tests-and-long-enough-to-pass',
  AUTH_JWT_ALGORITHM: 'ES256',
  AUTH_ENCRYPTION_KEY: encryptionKey,
}

suite('npm start', { concurrency: 3 }, () => {
  test('lists each configuration error before opening anything', async (t) => {
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

    const { written, ended } = startCli(t, ['serve'], { cwd: newFolder(t), env })

    assert.equal(await ended, 1)
    const lines = written.err.trim().split('\n')
    assert.match(lines[0] ?? '', /^The configuration has 11 errors:$/)
    assert.equal(lines.at(-1)?.startsWith('docs/configuration.md explains'), true)
    assert.deepEqual(namedIn(lines.slice(1, -1)), [
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

  test('is named by node server.ts', async () => {
    const child = spawnSync(process.execPath, ['server.ts'], { encoding: 'utf8' })
    assert.equal(child.status, 1)
    assert.match(child.stderr, /^Start the server with npm start, or node cli\.ts serve\.$/m)
  })

  const commands = [['migrate'], ['keys', 'list'], ['token', '--role', 'anon'], ['mail', 'list']]
  for (const command of commands) {
    test(`${command[0]} lists each configuration error without a stack`, async (t) => {
      const env = { AUTH_DB_DRIVER: 'mysql', AUTH_JWT_SECRET: 'short', AUTH_JWT_EXP: 'soon' }
      const { written, ended } = startCli(t, command, { cwd: newFolder(t), env })
      assert.equal(await ended, 1)
      const [head, ...lines] = written.err.trim().split('\n')
      assert.equal(head, 'The configuration has 6 errors:')
      assert.deepEqual(namedIn(lines.filter((line) => line.startsWith('  '))), [
        'AUTH_API_EXTERNAL_URL',
        'AUTH_DB_DRIVER',
        'AUTH_JWT_EXP',
        'AUTH_JWT_SECRET',
        'AUTH_SITE_URL',
        'DATABASE_URL',
      ])
      assert.doesNotMatch(written.err, /short/)
    })
  }

  test('a command without a database suggests where to run it', async (t) => {
    const { written, ended } = startCli(t, ['token', '--role', 'anon'], { cwd: newFolder(t) })
    assert.equal(await ended, 1)
    const [development, compose] = written.err.trim().split('\n').slice(-2)
    assert.match(development ?? '', /^For a development server: start npm run dev in this folder/)
    assert.match(compose ?? '', /^With docker compose: docker compose exec postern node cli\.ts /)
  })

  test('reads .env, overridden by the environment', async (t) => {
    const cwd = newFolder(t)
    const lines = Object.entries({ ...right, AUTH_JWT_EXP: 'soon', PORT: '99999' })
    lines.push(['DATABASE_URL', 'postgres://a@127.0.0.1:1/a'])
    writeFileSync(join(cwd, '.env'), lines.map((pair) => pair.join('=')).join('\n'))
    const { written, ended } = startCli(t, ['migrate'], { cwd, env: { PORT: '8081' } })
    assert.equal(await ended, 1)
    assert.match(written.err, /^The configuration has one error:\n {2}AUTH_JWT_EXP is "soon"/)
  })

  test('two servers start concurrently on an empty database, without development pages', async (t) => {
    const { url: DATABASE_URL } = await emptyDatabase(t)
    const servers = await Promise.all([0, 1].map(() => startServerProcess(t, { DATABASE_URL })))
    for (const { url } of servers) {
      assert.equal((await httpGet(`${url}/ready`)).status, 200)
      assert.equal((await httpGet(`${url}/.well-known/jwks.json`)).status, 200)
      for (const page of ['/dev', '/dev/inbox', '/dev/messages', '/docs']) {
        assert.equal((await httpGet(url + page)).status, 404, page)
      }
    }
  })

  const requested: [args: string[], code: number, said: RegExp][] = [
    [['--help'], 0, /^node cli\.ts COMMAND.*\n {2}keys +manages signing keys\n/s],
    [[], 1, /^No command was given\.\n\nnode cli\.ts COMMAND/],
    [['kyes'], 1, /^Unknown command kyes\.\n\nnode cli\.ts COMMAND/],
    [['token', '--rolle', 'anon'], 1, /^Unknown option '--rolle'.*\n\nUsage:\nnpm run token/s],
    [['keys', 'import', 'not-there.json'], 1, /^not-there\.json does not exist\.\n$/],
    [['users', 'import', 'not-there.csv'], 1, /^not-there\.csv does not exist\.\n$/],
  ]
  const ending = endingOfSuite()
  let database: ReturnType<typeof cloneDatabase> | undefined
  for (const [args, code, output] of requested) {
    test(`"${args.join(' ')}" prints an explanation`, async (t) => {
      database ??= cloneDatabase(ending)
      const env = { ...right, DATABASE_URL: (await database).url }
      const { written, ended } = startCli(t, args, { cwd: newFolder(t), env })
      assert.equal(await ended, code)
      assert.match(written.out + written.err.replace(/^AUTH_\w+ is not set:.*\n/gm, ''), output)
    })
  }

  test('"providers" without configuration and server requires one of the two', async (t) => {
    const { written, ended } = startCli(t, ['providers', 'google'], { cwd: newFolder(t) })
    assert.equal(await ended, 1)
    assert.match(written.err, /^The URL of this server is unknown: start `npm run dev`/)
    assert.doesNotMatch(written.err, /mistakes/)
  })

  test('each command has a usage text', async (t) => {
    const cwd = newFolder(t)
    const { written, ended } = startCli(t, ['--help'], { cwd })
    await ended
    const names = [...written.out.matchAll(/^ {2}([a-z-]+) {2,}/gm)].map(([, name = '']) => name)
    assert.ok(names.length > 10)
    const usages = new Map<string, string>()
    for (const name of names) {
      const file =
        [`cli/${name}.ts`, `cli/${name}/index.ts`].find((path) =>
          existsSync(join(import.meta.dirname, '../..', path)),
        ) ?? 'server.ts'
      const { usage }: { usage?: string } = await import(`../../${file}`)
      assert.match(usage ?? '', /^npm (run|start)/, name)
      usages.set(name, usage ?? '')
    }
    const help = startCli(t, ['keys', '--help'], { cwd })
    assert.equal(await help.ended, 0)
    assert.equal(help.written.out, `${usages.get('keys')}\n`)
  })

  test('sets an empty HOME for a system user without a name', () => {
    const nameless: { HOME?: string } = {}
    allowNoHome(nameless, () => {
      throw new Error('uv_os_homedir returned ENOENT')
    })
    assert.deepEqual(nameless, { HOME: '' })
    const named = {}
    allowNoHome(named, () => '/home/postern')
    assert.deepEqual(named, {})
  })

  test('migrate rejects a schema of a newer version', async (t) => {
    const DATABASE_URL = await newerSchema(t)
    const env = { ...right, DATABASE_URL }
    const { written, ended } = startCli(t, ['migrate'], { cwd: newFolder(t), env })
    assert.equal(await ended, 1)
    assert.match(written.err, /^The schema "auth" was migrated by a newer .*9999-later.*\n$/)
  })
})

suite('npm run providers', () => {
  const requested: [args: string[], code: number, output: RegExp][] = [
    [
      ['providers'],
      0,
      /http:\/\/auth\.example\/callback\n\nNo provider is enabled\.\nKnown: apple, /,
    ],
    [
      ['providers', 'google'],
      0,
      /AUTH_EXTERNAL_GOOGLE_REDIRECT_URI=http:\/\/auth\.example\/callback\n/,
    ],
    [['providers', 'goggle'], 1, /goggle is not a known provider\. Known: apple, /],
  ]
  for (const [args, code, output] of requested) {
    test(`"${args.join(' ')}" prints an explanation`, async () => {
      const env = { ...right, DATABASE_URL: 'postgres://unused@127.0.0.1:9/unused' }
      const written = await callCommand(run, args.slice(1), env)
      assert.equal(written.code, code)
      assert.match(written.stdout + written.stderr, output)
    })
  }
})

/** In this process: cli.ts prints these sentences as it prints those above. */
suite('server start', () => {
  test('rejects a schema of a newer version', async (t) => {
    await assert.rejects(start({ DATABASE_URL: await newerSchema(t) }), {
      message: /^The schema "auth" was migrated by a newer .*9999-later.*$/,
    })
  })

  test('warns when the pool exceeds the connection limit of Postgres', async (t) => {
    const { url: DATABASE_URL } = await cloneDatabase(t)
    const warned = async (size: string, more: Record<string, string> = {}) => {
      const lines: string[] = []
      const env = { DATABASE_URL, AUTH_DB_MAX_POOL_SIZE: size, PORT: '0', ...more }
      const write = (line: string) => void lines.push(line)
      const app = await startServer(
        testConfig({ ...right, ...env }, false),
        createPino('warn', { write }),
      )
      await app.close()
      return lines.join()
    }
    assert.match(
      await warned('5000'),
      /This server may open 5003 connections, but Postgres allows \d+ .*lower AUTH_DB_MAX_POOL_SIZE/,
    )
    assert.doesNotMatch(await warned('4'), /may open/)
    // Database functions have connections of their own.
    assert.match(await warned('5000', functionEnv('SEND_SMS', 'send')), /may open 7503 connections/)
  })

  test('warns about a clock skew to the database', async (t) => {
    const DATABASE_URL = process.env.TEST_ADMIN_URL ?? ''
    for (const [minutes, expected] of [
      [0, undefined],
      [10, 'behind'],
      [-10, 'ahead of'],
    ] as const) {
      const output: string[] = []
      const log = { warn: (line: string) => void output.push(line) }
      const [now, since] = [Date.now() + minutes * 60_000, performance.now()]
      if (minutes !== 0) t.mock.timers.enable({ apis: ['Date'], now })
      await warnOfClock({ DATABASE_URL }, log)
      t.mock.timers.reset()
      // The mocked clock stands still, and a slow machine reads that of the database late.
      const tookSeconds = Math.ceil((performance.now() - since) / 1000)
      const skew = /^The clock of the database is (\d+) s (behind|ahead of) this server:/
      const [, seconds, direction] = skew.exec(output.join()) ?? []
      assert.equal(output.length, expected ? 1 : 0)
      assert.equal(direction, expected)
      if (seconds) assert.ok(Math.abs(Number(seconds) - 600) <= tookSeconds, seconds)
    }
  })

  test('names a missing database as the reason', async () => {
    const url = new URL(process.env.TEST_ADMIN_URL ?? '')
    url.pathname = '/postern_missing'
    await assert.rejects(start({ DATABASE_URL: url.href }), ({ message }: Error) => {
      assert.match(
        message,
        /^The database of DATABASE_URL cannot be used: .*postern_missing.* Check that it runs.*$/,
      )
      return url.password === '' || !message.includes(url.password)
    })
  })

  test('rejects a database without the required TLS immediately', async () => {
    const url = new URL(process.env.TEST_ADMIN_URL ?? '')
    url.searchParams.set('sslmode', 'verify-full')
    const lines: string[] = []
    const write = (line: string) => void lines.push(line)
    await assert.rejects(start({ DATABASE_URL: url.href }, write), {
      message:
        /does not support SSL connections\. Check sslmode in DATABASE_URL \(docs\/errors\.md\)\.$/,
    })
    // It would warn that it waits.
    assert.doesNotMatch(lines.join(), /waiting/)
  })

  const addresses: Record<string, [env: Record<string, string>, sentence: RegExp]> = {
    'an address of another machine': [
      { AUTH_API_HOST: '192.0.2.1' },
      /^192\.0\.2\.1 is not an address of this machine: set AUTH_API_HOST to one that is\.$/,
    ],
    'a port in use': [
      {},
      /^Port \d+ on 127\.0\.0\.1 is in use by another program: stop it, or.*PORT=\d+\.$/,
    ],
  }
  for (const [what, [env, message]] of Object.entries(addresses)) {
    test(`reports ${what} in one sentence`, async (t) => {
      const { port } = await listener(t)
      const { url: DATABASE_URL } = await cloneDatabase(t)
      await assert.rejects(start({ DATABASE_URL, PORT: String(port), ...env }), { message })
    })
  }

  test('waits for the database and uses it once it is available', async (t) => {
    const { url } = await emptyDatabase(t)
    const proxy = await startTcpProxy(url)
    t.after(proxy.stop)
    proxy.cut()
    const lines: string[] = []
    const waiting = (line: string) => {
      lines.push(line)
      proxy.restore()
    }

    const PORT = String(await freePort())
    const app = await start({ DATABASE_URL: proxy.url, PORT }, waiting)

    t.after(() => app.close())
    assert.match(lines[0] ?? '', /the database .* does not respond yet \(.*\); waiting/)
    assert.equal((await httpGet(`http://127.0.0.1:${PORT}/ready`)).status, 200)
  })

  test('gives up on an unavailable database after half a minute', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: 0 })
    const lines: string[] = []
    const waiting = (line: string) => {
      lines.push(line)
      t.mock.timers.setTime(30_000)
    }
    const DATABASE_URL = 'postgres://nobody:secret-word@127.0.0.1:1/none'

    await assert.rejects(start({ DATABASE_URL }, waiting), ({ message }: Error) => {
      assert.match(message, /^The database of DATABASE_URL cannot be used: .*ECONNREFUSED.*$/)
      return !message.includes('secret-word')
    })

    assert.match(
      lines.join(),
      /the database none on 127\.0\.0\.1:1 does not respond yet \(connect ECONNREFUSED/,
    )
    assert.equal(lines.length, 1)
  })
})

/** Collects each warning. */
function start(env: Record<string, string>, write: (line: string) => void = () => {}) {
  return startServer(testConfig({ ...right, ...env }, false), createPino('warn', { write }))
}

/** The variables named by lines of the form `  NAME is wrong; hint.` */
function namedIn(lines: string[]) {
  return lines.map((line) => /^ {2}(\w+) .+; .+\.$/.exec(line)?.[1]).toSorted()
}

async function newerSchema(t: TestContext): Promise<string> {
  const { url } = await cloneDatabase(t)
  await query(
    url,
    `insert into auth.postern_later_migrations values ('9999-later', '')`,
    `update auth.postern_schema_floor set migration = '9999-later'`,
  )
  return url
}

/** Away from an .env that would change what is tested. */
function newFolder(t: TestContext): string {
  const folder = temporaryFolder(t, 'start')
  return folder
}

/** Replaces a database and counts connections. */
async function listener(t: TestContext) {
  let connections = 0
  const server = createServer((socket) => {
    connections += 1
    socket.destroy()
  })
  t.after(() => void server.close())
  return { port: await listen(server), connections: () => connections }
}
