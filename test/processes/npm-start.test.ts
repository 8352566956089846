/** `npm start` and other commands as processes: errors that prevent the start are reported immediately. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'

import { allowNoHome } from '../../server/home-folder.ts'
import { cloneDatabase, emptyDatabase } from '../support/database.ts'
import { startCli } from '../support/processes/cli-process.ts'
import { endingOfSuite } from '../support/processes/ending.ts'
import { httpGet, startServerProcess } from '../support/processes/server-process.ts'
import { listener, newerSchema, startSettings } from '../support/processes/server-start.ts'
import { temporaryFolder } from '../support/processes/temporary-folder.ts'

suite('npm start', { concurrency: 3 }, () => {
  test('lists each configuration error before opening anything', async (t) => {
    const database = await listener(t)
    const { AUTH_SITE_URL, ...rest } = startSettings
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
    const lines = Object.entries({ ...startSettings, AUTH_JWT_EXP: 'soon', PORT: '99999' })
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
    [['--version'], 0, /^\d+\.\d+\.\d+\n$/],
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
      const env = { ...startSettings, DATABASE_URL: (await database).url }
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
    const env = { ...startSettings, DATABASE_URL }
    const { written, ended } = startCli(t, ['migrate'], { cwd: newFolder(t), env })
    assert.equal(await ended, 1)
    assert.match(written.err, /^The schema "auth" was migrated by a newer .*9999-later.*\n$/)
  })
})

/** The variables named by lines of the form `  NAME is wrong; hint.` */
function namedIn(lines: string[]) {
  return lines.map((line) => /^ {2}(\w+) .+; .+\.$/.exec(line)?.[1]).toSorted()
}

/** Away from an .env that would change what is tested. */
const newFolder = (t: TestContext) => temporaryFolder(t, 'start')
