import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'

import { createLocalJWKSet, decodeJwt, exportJWK, generateKeyPair, jwtVerify } from 'jose'

import { run as runKeys } from '../../cli/keys.ts'
import { run as runToken } from '../../cli/token.ts'
import { listSigningKeys } from '../../db/signing-keys.ts'
import { startCli } from '../support/cli-process.ts'
import { callCommand, commandEnvironment } from '../support/command-call.ts'
import { cloneDatabase } from '../support/database.ts'
import { startedKeyServer } from '../support/signing-keys.ts'

suite('keys and token commands', () => {
  test('a key is made, rotated, revoked, imported and listed', async (t) => {
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

  test('export-public and token fit together, and a running server accepts the token', async (t) => {
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
    const { iat = 0, exp = 0, ...claims } = decodeJwt(token)
    assert.deepEqual(claims, { iss: 'http://auth.example', sub, role: 'service_role' })
    assert.equal(exp - iat, 2 * 365 * 86_400)
    assert.equal((await jwt.verify(token)).role, 'service_role')
  })

  test('a rotation, a revocation and a minted token are in the audit trail, without secrets', async (t) => {
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

  const mistakes: [string[], RegExp][] = [
    [['keys'], /Usage/],
    [['keys', 'toString'], /Usage/],
    [['keys', 'revoke'], /Usage/],
    [['keys', 'list', 'more'], /Usage/],
    [['keys', 'revoke', 'nobody'], /no signing key with this kid/],
    [['keys', 'revoke', '-nobody'], /no signing key with this kid/],
    [['keys', 'rotate', '--alg', 'none'], /RS256, ES256 or EdDSA/],
    [['keys', 'rotate', '--after', 'soon'], /"soon" is not a duration/],
    [['token'], /Usage/],
    [['token', '--role', 'anon', '--exp', '0'], /too short/],
  ]
  test('mistakes are told in a sentence', async (t) => {
    const { url } = await cloneDatabase(t)
    for (const [[name = '', ...args], message] of mistakes) {
      const { stderr, code } = await command(url, name, ...args)
      assert.match(stderr, message)
      assert.equal(code, 1)
    }
  })
})

async function temporaryFile(t: TestContext, content: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'postern-'))
  t.after(() => rm(folder, { recursive: true }))
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
