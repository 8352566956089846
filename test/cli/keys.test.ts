import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'

import {
  createLocalJWKSet,
  decodeJwt,
  exportJWK,
  generateKeyPair,
  jwtVerify,
  UnsecuredJWT,
} from 'jose'

import { run as runKeys } from '../../cli/keys/index.ts'
import { run as runToken } from '../../cli/token.ts'
import { listSigningKeys } from '../../db/keys/signing-keys.ts'
import { encryptionKey } from '../support/config.ts'
import { cloneDatabase } from '../support/database.ts'
import { startCli } from '../support/processes/cli-process.ts'
import { callCommand, commandEnvironment } from '../support/processes/command-call.ts'
import { temporaryFolder } from '../support/processes/temporary-folder.ts'
import { until } from '../support/processes/until.ts'
import { call, statusAndCode } from '../support/requests.ts'
import { build } from '../support/server.ts'
import { startedKeyServer } from '../support/signing-keys.ts'

suite('keys and token commands', () => {
  test('creates, rotates, revokes, imports and lists keys', async (t) => {
    const { url } = await cloneDatabase(t)
    const { privateKey } = await generateKeyPair('ES256', { extractable: true })
    const file = await temporaryFile(t, JSON.stringify(await exportJWK(privateKey)))

    assert.match(
      (await command(url, 'keys', 'list')).stdout,
      /^\S+ {2}RS256 {2}current {3}signs\n$/,
    )
    const rotated = await command(url, 'keys', 'rotate', '--alg', 'EdDSA', '--after', '20m')
    const kid = /^(\S+) {2}EdDSA {2}standby/m.exec(rotated.stdout)?.[1] ?? ''
    assert.notEqual(kid, '', rotated.stdout)
    assert.match((await command(url, 'keys', 'revoke', kid)).stdout, /EdDSA {2}revoked/)
    assert.match((await command(url, 'keys', 'import', file)).stdout, /ES256 {2}standby/)
  })

  test('a running server accepts a token, which verifies with the exported public key', async (t) => {
    const { url } = await cloneDatabase(t)
    const { jwt } = await startedKeyServer(t, url)
    const sub = crypto.randomUUID()

    const minted = await commandProcess(
      t,
      url,
      'token',
      '--role',
      'service_role',
      '--exp',
      '2y',
      '--sub',
      sub,
    )
    const exported = await commandProcess(t, url, 'keys', 'export-public')

    const token = minted.trim()
    await jwtVerify(token, createLocalJWKSet(JSON.parse(exported)))
    const { iat = 0, exp = 0, jti = '', ...claims } = decodeJwt(token)
    assert.match(jti, /^[0-9a-f-]{36}$/)
    assert.deepEqual(claims, { iss: 'http://auth.example', sub, role: 'service_role' })
    assert.equal(exp - iat, 2 * 365 * 86_400)
    assert.equal((await jwt.verify(token)).role, 'service_role')
  })

  test('issues tokens for 90 days unless --exp is given', async (t) => {
    const { url } = await cloneDatabase(t)
    const { stdout } = await command(url, 'token', '--role', 'service_role')
    const { iat = 0, exp = 0 } = decodeJwt(stdout.trim())
    assert.equal(exp - iat, 90 * 86_400)
  })

  test('a rotation lists the tokens that still need the previous key', async (t) => {
    const { url } = await cloneDatabase(t)
    const token = (await command(url, 'token', '--role', 'service_role')).stdout.trim()
    const { jti = '', exp = 0 } = decodeJwt(token)
    const until = new Date(exp * 1000).toISOString().slice(0, 19)
    const pin = new RegExp(`current .*\n {2}needed by token ${jti} of service_role until ${until}`)
    assert.match((await command(url, 'keys', 'rotate')).stdout, pin)
    await command(url, 'token', 'revoke', jti)
    assert.doesNotMatch((await command(url, 'keys', 'list')).stdout, /needed by/)
  })

  test('revokes a single token, on servers that have cached it, with an audit log entry', async (t) => {
    const { app, database } = await build(t)
    const env = { ...commandEnvironment, AUTH_ENCRYPTION_KEY: encryptionKey }
    const run = (...args: string[]) =>
      callCommand(runToken, args, { ...env, DATABASE_URL: database.url })
    const issue = async () => (await run('--role', 'service_role')).stdout.trim()
    const [token, other] = [await issue(), await issue()]
    const send = (bearer: string) => call(app, '/admin/users', undefined, { token: bearer })
    for (const good of [token, other]) assert.equal((await send(good)).statusCode, 200)
    const { jti = '' } = decodeJwt(token)

    const { stdout } = await run('revoke', jti)

    assert.match(stdout, new RegExp(`^${jti} {2}service_role {2}revoked `, 'm'))
    await until(async () => (await send(token)).statusCode === 403)
    assert.deepEqual(statusAndCode(await send(token)), [403, 'bad_jwt'])
    assert.equal((await send(other)).statusCode, 200)
    const again = await run('revoke', jti)
    assert.match(again.stderr, /is already revoked/)
    const { rows } = await app.pool.query(
      `select payload -> 'traits' ->> 'jti' as jti from auth.audit_log_entries
       where payload ->> 'action' = 'api_token_revoked'`,
    )
    assert.deepEqual(rows, [{ jti }])
  })

  test('revokes a token that the command did not issue by its jti, also with AUTH_JWT_KEYS', async (t) => {
    const { privateKey } = await generateKeyPair('ES256', { extractable: true })
    const jwk = { ...(await exportJWK(privateKey)), alg: 'ES256', key_ops: ['sign'], kid: 'mine' }
    const { app, database } = await build(t, { env: { AUTH_JWT_KEYS: JSON.stringify([jwk]) } })
    const token = await app.jwt.sign({ role: 'service_role', jti: 'issued-by-another-program' })
    const send = () => call(app, '/admin/users', undefined, { token })
    assert.equal((await send()).statusCode, 200)
    await command(database.url, 'token', 'revoke', 'issued-by-another-program')
    await until(async () => (await send()).statusCode === 403)
  })

  test('revokes a pasted token, and reports an id that was never issued', async (t) => {
    const { url: DATABASE_URL } = await cloneDatabase(t)
    const env = { ...commandEnvironment, AUTH_ENCRYPTION_KEY: encryptionKey, DATABASE_URL }
    const run = (...args: string[]) => callCommand(runToken, args, env)
    const token = (await run('--role', 'service_role')).stdout.trim()
    const { jti = '' } = decodeJwt(token)

    const { stdout, stderr } = await run('revoke', token)

    assert.match(stdout, new RegExp(`^${jti} {2}service_role {2}revoked `, 'm'))
    assert.doesNotMatch(stderr, /issued no valid token/)
    assert.match(
      (await run('revoke', 'mistyped')).stderr,
      /^This server issued no valid token with the id mistyped\. If it is a typing error, /m,
    )
    const unsigned = new UnsecuredJWT({ role: 'service_role' }).encode()
    assert.match((await run('revoke', unsigned)).stderr, /^This token has no id \(jti\): revoke/m)
  })

  test('warns about a misspelt role', async (t) => {
    const { url: DATABASE_URL } = await cloneDatabase(t)
    const env = { ...commandEnvironment, AUTH_ENCRYPTION_KEY: encryptionKey, DATABASE_URL }
    const { stdout, stderr } = await callCommand(runToken, ['--role', 'service-role'], env)
    assert.equal(decodeJwt(stdout.trim()).role, 'service-role')
    assert.match(stderr, /^The role of this token is service-role; did you mean service_role\?$/m)
    const own = await callCommand(runToken, ['--role', 'reporting'], env)
    assert.doesNotMatch(own.stderr, /did you mean/)
  })

  test('writes audit log entries without secrets', async (t) => {
    const { url } = await cloneDatabase(t)
    const { db } = await startedKeyServer(t, url)
    await command(url, 'keys', 'rotate', '--alg', 'EdDSA')
    const kid = (await listSigningKeys(db)).find(({ state }) => state === 'standby')?.kid ?? ''
    await command(url, 'keys', 'revoke', kid)
    const token = (await command(url, 'token', '--role', 'service_role')).stdout.trim()

    const entries = await db
      .selectFrom('audit_log_entries')
      .select('payload')
      .orderBy('created_at')
      .execute()
    assert.deepEqual(
      entries.map(({ payload }) => [payload.actor_username, payload.action]),
      [
        ['npm run keys', 'signing_key_rotated'],
        ['npm run keys', 'signing_key_revoked'],
        ['npm run token', 'api_token_issued'],
      ],
    )
    const [, revoked, issued] = entries.map(({ payload }) => payload.traits)
    assert.equal(revoked?.kid, kid)
    assert.equal(issued?.role, 'service_role')
    assert.ok(!JSON.stringify(entries).includes(token.split('.')[2] ?? ''))
  })

  const invalidCases: [string[], RegExp][] = [
    [['keys'], /Usage/],
    [['keys', 'toString'], /Usage/],
    [['keys', 'revoke'], /Usage/],
    [['keys', 'list', 'more'], /Usage/],
    [['keys', 'revoke', 'unknown'], /no active signing key with this kid/],
    [['keys', 'revoke', '-unknown'], /no active signing key with this kid/],
    [['keys', 'rotate', '--alg', 'none'], /RS256, ES256 or EdDSA/],
    [['keys', 'rotate', '--after', 'soon'], /"soon" is not a duration/],
    [['token'], /Usage/],
    [['token', 'revoke'], /Usage/],
    [['token', 'list', 'more'], /Usage/],
    [['token', 'mint'], /Usage/],
    [['token', '--role', 'anon', '--exp', '0'], /too short/],
  ]
  test('reports errors in one sentence', async (t) => {
    const { url } = await cloneDatabase(t)
    for (const [[name = '', ...args], message] of invalidCases) {
      const { stderr, code } = await command(url, name, ...args)
      assert.match(stderr, message)
      assert.equal(code, 1)
    }
  })
})

async function temporaryFile(t: TestContext, content: string): Promise<string> {
  const folder = temporaryFolder(t, 'keys')
  const file = join(folder, 'key.json')
  await writeFile(file, content)
  return file
}

interface Outcome {
  stdout: string
  stderr: string
  code: number
}

function command(databaseUrl: string, name: string, ...args: string[]): Promise<Outcome> {
  const run = name === 'keys' ? runKeys : runToken
  return callCommand(run, args, { ...commandEnvironment, DATABASE_URL: databaseUrl })
}

/** The same as the command line does it. */
async function commandProcess(t: TestContext, databaseUrl: string, ...args: string[]) {
  const env = { ...commandEnvironment, DATABASE_URL: databaseUrl }
  const { written, ended } = startCli(t, args, { cwd: tmpdir(), env })
  assert.equal(await ended, 0, written.err)
  return written.out
}
