/** Recovery codes by the published client SDK (`auth.mfa.recoveryCodes`, experimental there), over HTTP. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { AuthClient } from '@supabase/auth-js'

import { totpCode } from '../../../support/factors/factors.ts'
import { codeCount, factorsOn } from '../../../support/factors/recovery-codes.ts'
import { shareServers } from '../../../support/processes/shared-servers.ts'
import { build } from '../../../support/server.ts'
import { newAddress, password } from '../../../support/users.ts'

type Client = InstanceType<typeof AuthClient>

suite('recovery codes by SDK', () => {
  const servers = listeningServers()

  test('generates, counts, lists and verifies codes, and steps up once per code', async (t) => {
    const { newClient, userWithTotp } = await sdkFor(t, servers)
    const { client, email } = await userWithTotp()
    const { data: made } = await client.mfa.recoveryCodes.generate({ friendlyName: 'Paper' })
    assert.ok(made)
    assert.deepEqual(
      [made.type, made.total, made.codes.length],
      ['recovery_code', codeCount, codeCount],
    )
    for (const code of made.codes) assert.match(code, /^[a-z2-7]{16}$/)
    const { data: listed } = await client.mfa.listFactors()
    const names = listed?.recovery_code.map(({ id, friendly_name }) => [id, friendly_name])
    assert.deepEqual(names, [[made.id, 'Paper']])
    const status = { id: made.id, type: 'recovery_code', total: codeCount, remaining: codeCount }
    assert.deepEqual((await client.mfa.recoveryCodes.getStatus()).data, status)

    const other = newClient()
    await other.signInWithPassword({ email, password })
    const [first = ''] = made.codes
    const code = first.toUpperCase().replace(/.{4}/g, '$&-')
    assert.equal((await other.mfa.recoveryCodes.verify({ code })).error, null)
    const { data: level } = await other.mfa.getAuthenticatorAssuranceLevel()
    assert.equal(level?.currentLevel, 'aal2')
    const again = await other.mfa.recoveryCodes.verify({ code })
    assert.equal(again.error?.code, 'mfa_verification_failed')
    const left = await other.mfa.recoveryCodes.getStatus()
    assert.equal(left.data?.remaining, codeCount - 1)
  })

  test('regenerate replaces existing codes only', async (t) => {
    const { userWithTotp } = await sdkFor(t, servers)
    const { client } = await userWithTotp()
    const none = await client.mfa.recoveryCodes.regenerate()
    assert.equal(none.error?.code, 'mfa_factor_not_found')
    const { data: old } = await client.mfa.recoveryCodes.generate()
    const twice = await client.mfa.recoveryCodes.generate()
    assert.equal(twice.error?.code, 'mfa_verified_factor_exists')
    const { data: made } = await client.mfa.recoveryCodes.regenerate()
    assert.equal(made?.id, old?.id)
    const [before = '', now = ''] = [old?.codes[0], made?.codes[0]]
    const voided = await client.mfa.recoveryCodes.verify({ code: before })
    assert.equal(voided.error?.code, 'mfa_verification_failed')
    assert.equal((await client.mfa.recoveryCodes.verify({ code: now })).error, null)
  })

  test('unenroll deletes the codes and writes an audit log entry', async (t) => {
    const { app, userWithTotp } = await sdkFor(t, servers)
    const { client } = await userWithTotp()
    const { data: made } = await client.mfa.recoveryCodes.generate()
    const removed = await client.mfa.recoveryCodes.unenroll()
    assert.deepEqual(removed.data, { id: made?.id })
    const code = made?.codes[0] ?? ''
    const voided = await client.mfa.recoveryCodes.verify({ code })
    assert.equal(voided.error?.code, 'mfa_verification_failed')
    for (const response of [
      await client.mfa.recoveryCodes.getStatus(),
      await client.mfa.recoveryCodes.unenroll(),
    ]) {
      assert.deepEqual(
        [response.error?.status, response.error?.code],
        [404, 'mfa_factor_not_found'],
      )
    }
    const { data: session } = await client.getSession()
    const rows = await app.db.selectFrom('audit_log_entries').select('payload').execute()
    const actions = rows
      .filter(({ payload }) => payload.actor_id === session.session?.user.id)
      .map(({ payload }) => payload.action)
      .filter((name) => /recovery/.test(name))
    assert.deepEqual(actions, ['recovery_codes_generated', 'recovery_codes_deleted'])
  })

  test('at aal1 only counts and consumes recovery codes', async (t) => {
    const { newClient, userWithTotp } = await sdkFor(t, servers)
    const { client, email } = await userWithTotp()
    const { data: made } = await client.mfa.recoveryCodes.generate()
    const other = newClient()
    await other.signInWithPassword({ email, password })
    for (const response of [
      await other.mfa.recoveryCodes.regenerate(),
      await other.mfa.recoveryCodes.unenroll(),
    ]) {
      assert.deepEqual([response.error?.status, response.error?.code], [403, 'insufficient_aal'])
    }
    assert.equal((await other.mfa.recoveryCodes.getStatus()).data?.remaining, codeCount)
    const code = made?.codes[0] ?? ''
    assert.equal((await other.mfa.recoveryCodes.verify({ code })).error, null)
  })
})

function listeningServers() {
  return shareServers(async (ending, options) => {
    const { app } = await build(ending, options)
    return { app, url: await app.listen({ port: 0, host: '127.0.0.1' }) }
  })
}

/** SDK clients of a listening server, and users with a factor and an aal2 session. */
async function sdkFor(t: TestContext, servers: ReturnType<typeof listeningServers>) {
  const { app, url } = await servers(factorsOn)

  function newClient(): Client {
    const client = new AuthClient({
      url,
      autoRefreshToken: false,
      persistSession: true,
      experimental: { recoveryCodes: true },
    })
    t.after(() => client.stopAutoRefresh())
    return client
  }

  async function userWithTotp() {
    const [client, email] = [newClient(), newAddress()]
    assert.equal((await client.signUp({ email, password })).error, null)
    const { data } = await client.mfa.enroll({ factorType: 'totp' })
    const factor = data ?? assert.fail('no factor')
    const code = totpCode(factor.totp.secret)
    const verification = { factorId: factor.id, code }
    assert.equal((await client.mfa.challengeAndVerify(verification)).error, null)
    return { client, email }
  }

  return { app, newClient, userWithTotp }
}
